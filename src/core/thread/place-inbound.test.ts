import { expect, it } from 'vitest';
import { parseMessageIdList } from '../message/references.ts';
import { linksOf } from './place-inbound.ts';

const answered = (inReplyTo: string) =>
  linksOf({ inReplyTo: parseMessageIdList(inReplyTo), references: [], bounced: null, bySubject: null }).map(
    ({ messageId }) => messageId,
  );

it('of several ids that an email answers, the first that was made for one email counts, wherever addresses stand', () => {
  const [id, other] = ['5f1c0e2a9b7d4c3e8f6a1b2c@mail.example', '20260301120000.4711@mail.example'];
  expect(answered(`<bob@third.example> <${id}>`)).toEqual([id]);
  expect(answered(`<${id}> <bob@third.example>`)).toEqual([id]);
  expect(answered(`<${id}> <${other}>`)).toEqual([id]);
  expect(answered('<contact@shop.example> <bob@third.example>')).toEqual(['contact@shop.example']);
});
