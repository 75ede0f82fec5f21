import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { makeTempFolder } from '../helpers/temp-folder.ts';
import { startS3Server } from '../helpers/s3-server.ts';
import { blobStoreContract } from './blob-store.contract.ts';

blobStoreContract('folder', true, async () => {
  const temp = await makeTempFolder();
  const folder = join(temp.path, 'files');
  return {
    options: { url: null, folder, credentials: null },
    takeAway: () => rename(folder, join(temp.path, 'elsewhere')),
    close: () => temp.remove(),
  };
});

blobStoreContract('S3', false, async () => {
  const server = await startS3Server();
  return {
    options: { url: server.url, folder: '', credentials: server.credentials },
    takeAway: () => server.close(),
    close: () => server.close(),
  };
});
