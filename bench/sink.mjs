/** A real SMTP server that accepts everything and keeps nothing. */
import { SMTPServer } from 'smtp-server';

const server = new SMTPServer({
  authOptional: true,
  disabledCommands: ['STARTTLS', 'AUTH'],
  disableReverseLookup: true,
  onData(stream, _session, callback) {
    stream.resume();
    stream.on('end', () => callback(null, '2.0.0 queued'));
  },
});
server.on('error', () => {});
server.listen(0, '127.0.0.1', () => console.log(`port ${server.server.address().port}`));
process.on('SIGTERM', () => process.exit(0));
