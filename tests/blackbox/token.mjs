// Tokens as the protocol describes them: JWT, HS256.
import { createHmac } from 'node:crypto';

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A signed token. `claims.exp` is an hour ahead unless given. */
export function make_token(secret, claims, header = { alg: 'HS256', typ: 'JWT' }) {
  const exp = Math.floor(Date.now() / 1000) + 3600;
  const body = `${encode(header)}.${encode({ exp, ...claims })}`;
  return `${body}.${createHmac('sha256', secret).update(body).digest('base64url')}`;
}
