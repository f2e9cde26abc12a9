// Certificates of their own for scenarios over TLS, made with openssl as an operator would.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'taut-certificates-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Makes a self-signed certificate for 127.0.0.1 under this name and returns its two files. */
export function make_certificate(name, key_type = ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256']) {
  const cert = join(folder, `${name}.crt`);
  const key = join(folder, `${name}.key`);
  const subject = ['-subj', `/CN=${name}`, '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', '-x509', '-nodes', '-days', '2', '-newkey', ...key_type, '-keyout', key, '-out', cert, ...subject], { stdio: 'ignore' });
  return { cert, key };
}
