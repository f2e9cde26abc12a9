// A relay on Node's `ws`, to be compared with taut: what /PAIR/send says, /PAIR/recv hears. Argument: the port.
import { WebSocketServer } from 'ws';

const receivers = new Map();
const server = new WebSocketServer({ host: '127.0.0.1', port: Number(process.argv[2]), perMessageDeflate: false });
server.on('connection', (socket, request) => {
  const [, pair, side] = request.url.split('/');
  if (side === 'recv') receivers.set(pair, socket);
  else socket.on('message', (text) => receivers.get(pair).send(text, { binary: false }));
});
