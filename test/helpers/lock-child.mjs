/** Takes the lock of a DATA_DIR and keeps it. Prints the pid of a program that it started in the meantime. */
import { spawn } from 'node:child_process';
import { lockDataDir } from '../../dist/connectors/data-dir/data-dir-lock.js';

await lockDataDir(process.argv[2]);
const inheritor = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' });
process.stdout.write(`${inheritor.pid}\n`);
process.stdin.resume();
