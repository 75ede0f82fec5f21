import S3rver from 's3rver';
import { makeTempFolder } from './temp-folder.ts';

export interface S3Server {
  /** In the form of `BLOB_URL`. */
  readonly url: string;
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** A second call does nothing. */
  close(): Promise<void>;
}

/** An S3 server on a port of its own, with one empty bucket. */
export async function startS3Server(): Promise<S3Server> {
  const folder = await makeTempFolder();
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder.path,
    configureBuckets: [{ name: 'test-bucket' }],
  });
  const { port } = await server.run();
  let closed: Promise<void> | null = null;
  return {
    url: `s3://test-bucket/some/prefix?endpoint=http://127.0.0.1:${port}`,
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    close: () => (closed ??= server.close().then(() => folder.remove())),
  };
}
