/** `email-worker doctor` beside the service, and with the embedded database of a service that does not run. */
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { runCommand, startCommand } from '../helpers/command-process.ts';
import { findFreePort } from '../helpers/free-port.ts';
import { disposeService, startServiceProcess } from '../helpers/service-process.ts';
import { makeTempFolder } from '../helpers/temp-folder.ts';
import { waitUntil } from '../helpers/wait-until.ts';

/** Far longer than the test takes: services and doctors start one after the other. */
const TIMEOUT_MS = 600_000;

it(
  'looks beside the service and without it, and leaves the way free for it',
  async () => {
    const folder = await makeTempFolder();
    const port = String(await findFreePort());
    const options = { dataDir: folder.path, env: { MAIL_FROM: 'sales@localhost', PORT: port } };
    const first = await startServiceProcess(options);
    const beside = await runCommand(['doctor'], options);
    expect(beside.stdout).toContain(`process ${first.process.pid} has DATA_DIR`);
    expect(beside.stdout).toContain(`the service listens for HTTP at 127.0.0.1:${port}`);
    expect(beside.stdout).toMatch(/ok +PostgreSQL \d+\S*, embedded/);
    expect(beside).toMatchObject({ exitCode: 0, stderr: '' });
    await first.stop();

    const without = await runCommand(['doctor'], options);
    expect(without.stdout).toContain('no service runs on DATA_DIR');
    expect(without.stdout).toMatch(/ok +PostgreSQL \d+\S*, embedded/);
    expect(without.stdout).toContain('the journal is empty');
    expect(without).toMatchObject({ exitCode: 0, stderr: '' });

    // A service that starts while the doctor looks waits for it.
    const looking = startCommand(['doctor'], options);
    // What the one before wrote is still there.
    const noted = `${looking.process.pid} briefly\n`;
    await waitUntil(
      'the doctor has DATA_DIR',
      async () => (await readFile(path.join(folder.path, 'lock'), 'utf8')) === noted,
    );
    const second = await startServiceProcess(options);
    await looking.ended();
    expect(looking.stdout()).toContain('no service runs on DATA_DIR');
    await disposeService(second);
  },
  TIMEOUT_MS,
);
