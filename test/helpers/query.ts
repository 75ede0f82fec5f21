/** One query on a connection of its own. */
import { Client, type ClientConfig } from 'pg';

export async function query(
  connection: ClientConfig | string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly Record<string, unknown>[]> {
  const client = new Client(connection);
  // The server may be killed meanwhile; the query under way tells.
  client.on('error', () => {});
  await client.connect();
  try {
    const { rows } = await client.query<Record<string, unknown>>(text, [...values]);
    return rows;
  } finally {
    await client.end();
  }
}
