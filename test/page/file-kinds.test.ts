/** What the page makes of the names of received files. */
import { describe, expect, it } from 'vitest';
import { lookOf } from '../../page/src/features/thread/file-kinds.ts';
import { cutOfAddress, cutOfFile } from '../../page/src/ui/middle.ts';

const look = (name: string, type = 'application/octet-stream') => lookOf(name, type);

describe('a received file', () => {
  it.each([
    ['Rechnung.exe', 'program'],
    ['Rechnung.SCR', 'program'],
    ['Rechnung.exe. . ', 'program'],
    ['Rechnung.ex\u200be', 'program'],
    ['Rechnung．exe', 'program'],
    ['setup.msi', 'program'],
    ['Rechnung.js', 'script'],
    ['Rechnung.ps1', 'script'],
    ['Rechnung.hta', 'script'],
    ['Rechnung.lnk', 'shortcut'],
    ['Rechnung.url', 'shortcut'],
    ['Rechnung.iso', 'disk'],
    ['Rechnung.vhdx', 'disk'],
    ['Rechnung.html', 'web'],
    ['Rechnung.svg', 'web'],
    ['Rechnung.docm', 'macro'],
    ['Rechnung.xlsb', 'macro'],
  ])('can do harm when it is opened: %j', (name, danger) => {
    expect(look(name)).toMatchObject({ kind: danger, danger });
    expect(look(name, 'application/pdf').danger).toBe(danger);
  });

  it.each([
    ['text/html', 'web'],
    ['application/x-msdownload', 'program'],
    ['application/vnd.ms-excel.sheet.macroEnabled.12', 'macro'],
  ])('can do harm by its type: %s', (type, danger) => {
    expect(look('Rechnung', type).danger).toBe(danger);
    expect(look('Rechnung.pdf', type).kind).toBe('text');
    expect(look('Rechnung.2024', type).danger).toBe(danger);
  });

  it.each([
    ['Rechnung.pdf', 'text'],
    ['Rechnung.docx', 'text'],
    ['Rechnung Nr. 12.xlsx', 'sheet'],
    ['backup.tar.gz', 'archive'],
    ['Bild.JPG', 'image'],
    ['README', 'other'],
    ['v1.2', 'other'],
    ['', 'other'],
  ])('is shown as what it is: %s', (name, kind) => {
    expect(look(name)).toMatchObject({ kind, danger: null, disguises: [] });
  });

  it.each([
    ['Rechnung.pdf.exe', ['double']],
    ['Rechnung.pdf .exe', ['double']],
    ['Rechnung.pdf          .exe', ['double', 'hidden']],
    ['Bild\u202egnp.exe', ['direction']],
    ['Bild.png\u200f.exe', ['double', 'direction']],
    ['Bild\u200b.exe', ['hidden']],
    ['Rechnung\u202efdp.docx', ['direction']],
  ])('has a name that deceives: %j', (name, disguises) => {
    expect(look(name).disguises).toEqual(disguises);
  });
});

describe('a text that is cut in its middle', () => {
  it.each([
    ['Rechnung 2024.pdf', '2024.pdf'],
    ['Rechnung.pdf.exe', '.pdf.exe'],
    ['ohne', 'ohne'],
    ['a.b', 'a.b'],
    [`x.${'y'.repeat(40)}`, 'y'.repeat(8)],
  ])('keeps the extension of %s', (name, end) => {
    expect(name.slice(cutOfFile(name))).toBe(end);
  });

  it.each([
    ['ann@customer.example', '@customer.example'],
    ['service@www.bank.example.account.verify.security.evil.co.uk', 'security.evil.co.uk'],
    [`a@${'b'.repeat(60)}.example`, `${'b'.repeat(60)}.example`],
    ['ann', 'ann'],
  ])('keeps the site of %s', (address, end) => {
    expect(address.slice(cutOfAddress(address))).toBe(end);
  });
});
