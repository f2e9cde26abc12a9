// A relay on socket.io, to be compared with taut: what ?pair=N&side=send says, ?pair=N&side=recv hears. Argument: the port.
import { createServer } from 'node:http';
import { Server } from 'socket.io';

const receivers = new Map();
const http = createServer();
const server = new Server(http, { transports: ['websocket'], serveClient: false, perMessageDeflate: false });
server.on('connection', (socket) => {
  const { pair, side } = socket.handshake.query;
  if (side === 'recv') receivers.set(pair, socket);
  else socket.on('m', (text) => receivers.get(pair).emit('m', text));
});
http.listen(Number(process.argv[2]), '127.0.0.1');
