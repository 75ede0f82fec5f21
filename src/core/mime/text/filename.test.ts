import { describe, expect, it } from 'vitest';
import { expectCpuGrowthBelow } from '../../../../test/readers/cpu-time.ts';
import { asciiFilename, displayFilename, StorageNames } from './filename.ts';

describe('displayFilename', () => {
  it.each([
    ['a plain name', 'Rechnung.pdf', 'Rechnung.pdf'],
    ['Unicode', 'Größe 日本 😀.pdf', 'Größe 日本 😀.pdf'],
    ['a Unix path', '../../etc/passwd', 'passwd'],
    ['a Windows path', 'C:\\Users\\max\\x.doc', 'x.doc'],
    ['a slash within a name', 'Rechnung 2024/11.pdf', 'Rechnung 2024_11.pdf'],
    ['several slashes', 'Angebot 1/2 \\ 3.pdf', 'Angebot 1_2_3.pdf'],
    ['a slash at the end', 'a/b/', 'a_b'],
    ['an absolute path', '/home/max/x.doc', 'x.doc'],
    ['a path of a network', '\\\\server\\share\\x.doc', 'x.doc'],
    ['a path through the folder above', 'a/../../x.doc', 'x.doc'],
    ['dots only', '..', 'attachment'],
    ['nothing', ' ', 'attachment'],
    ['slashes only', '///', 'attachment'],
    ['control characters', 'a\r\nBcc: b\0.txt', 'aBcc: b.txt'],
    ['a right-to-left override', 'rechnung\u202efdp.exe', 'rechnungfdp.exe'],
    ['white space around', ' \ta b.txt\u00a0', 'a b.txt'],
    ['a lone surrogate', 'a\ud800.txt', 'a\ufffd.txt'],
    ['a hidden file', '.env', '.env'],
    ['a path that hides behind controls', 'a/\u0000', 'a'],
  ])('cleans %s', (_, given, expected) => {
    expect(displayFilename(given)).toBe(expected);
  });

  it('cuts in front of the extension and between characters', () => {
    const name = displayFilename(`${'ü'.repeat(200)}.pdf`);
    expect(name).toBe(`${'ü'.repeat(125)}.pdf`);
    expect(displayFilename(`a${'😀'.repeat(100)}`)).toBe(`a${'😀'.repeat(63)}`);
    expect(displayFilename(`a.${'b'.repeat(300)}`)).toBe(`a.${'b'.repeat(253)}`);
  });
});

describe('StorageNames', () => {
  it.each([
    ['a plain name', 'Rechnung.pdf', 'Rechnung.pdf'],
    ['what paths must not hold', 'a:b*c?"d"<e>|f/g\\h.txt', 'a_b_c__d__e__f_g_h.txt'],
    ['decomposed letters', 'Gro\u0308ße.pdf', 'Größe.pdf'],
    ['leading dots', '..env', 'env'],
    ['trailing dots and spaces', 'a. .', 'a'],
    ['dots only', '...', 'attachment'],
    ['a device of Windows', 'CON', '_CON'],
    ['a device with an extension', 'com1.tar.gz', '_com1.tar.gz'],
    ['a device with a superscript', 'LPT¹.txt', '_LPT¹.txt'],
    ['what only starts like a device', 'console.txt', 'console.txt'],
  ])('makes %s safe', (_, display, expected) => {
    expect(new StorageNames().add(display)).toBe(expected);
  });

  it('numbers names that are taken, without regard to case', () => {
    const names = new StorageNames(['Name.pdf', 'name (2).PDF', 'größe']);
    expect(names.add('name.pdf')).toBe('name (3).pdf');
    expect(names.add('GRÖSSE')).toBe('GRÖSSE (2)');
    expect(names.add('other.pdf')).toBe('other.pdf');
    expect(names.add('OTHER.pdf')).toBe('OTHER (2).pdf');
    expect(names.add('name.pdf')).toBe('name (4).pdf');
    // Also a name that looks as if it already had a number.
    expect(names.add('name (5).pdf')).toBe('name (5).pdf');
    expect(names.add('name.pdf')).toBe('name (6).pdf');
  });

  it('makes room for the number', () => {
    const name = `${'a'.repeat(300)}.tar`;
    const names = new StorageNames();
    const first = names.add(name);
    const second = names.add(name);
    expect(first).toBe(`${'a'.repeat(195)}.tar`);
    expect(second).toBe(`${'a'.repeat(192)} (2).tar`);
  });

  it.each([
    ['of one name', () => 'x.pdf'],
    ['of a name each', (index: number) => `${index}.pdf`],
  ])('takes time in proportion to the number of files %s', (_, nameOf) => {
    const nameAll = (count: number) => {
      const names = new StorageNames();
      for (let index = 0; index < count; index += 1) names.add(nameOf(index));
    };
    // Quadratic growth would be a hundred times as much, apart from constant costs.
    expectCpuGrowthBelow(40, nameAll, 3_000, 30_000, 1);
  });
});

describe('asciiFilename', () => {
  it('drops accents, replaces the rest and keeps the extension', () => {
    expect(asciiFilename('Übersicht für "日本".pdf')).toBe('Ubersicht fur ___.pdf');
    expect(asciiFilename(`${'ü'.repeat(100)}.pdf`)).toBe(`${'u'.repeat(56)}.pdf`);
  });
});
