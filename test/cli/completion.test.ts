/** The completions, in the shells themselves. */
import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../src/cli/commands.ts';
import { runCommandInProcess } from '../helpers/command-in-process.ts';
import { skipWithout } from '../helpers/skip.ts';
import { makeTempFolder, type TempFolder } from '../helpers/temp-folder.ts';

let folder: TempFolder;
beforeAll(async () => {
  folder = await makeTempFolder();
});
afterAll(() => folder.remove());

async function print(shell: string): Promise<string> {
  const { exitCode, stdout } = await runCommandInProcess(['completion', shell], {
    dataDir: folder.path,
    env: {},
  });
  expect(exitCode).toBe(0);
  return stdout;
}

const names = COMMANDS.map(({ name }) => name);

/** Typed line → the completions offered: all of them, or some. */
const CASES: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['email-worker acc', ['accounts']],
  ['email-worker queue r', ['resolve', 'retry']],
  ['email-worker queue resolve 1 --out', ['--outcome']],
  ['email-worker queue resolve 1 --outcome ', ['failed', 'sent']],
  ['email-worker events --type quarant', ['quarantine.added']],
  ['email-worker keys create --right re', ['read', 'receive']],
  ['email-worker send --attach the-', ['the-file.txt']],
  ['email-worker import the-', ['the-file.txt']],
  ['email-worker webhooks pause ', []],
];

describe.skipIf(skipWithout('completions of bash', 'bash'))('bash', () => {
  it('completes commands, options, values and files', async () => {
    const script = path.join(folder.path, 'completion.bash');
    await writeFile(script, await print('bash'));
    await writeFile(path.join(folder.path, 'the-file.txt'), '');
    // Readline itself asks on Tab; the function it then calls is called here, and files are added as `-o default` does.
    const offers = (line: string): readonly string[] => {
      const program = `
        compopt() { [[ $2 == default ]] && files=1; }
        source "$1"
        COMP_WORDS=($2); [[ $2 == *' ' ]] && COMP_WORDS+=('')
        COMP_CWORD=$((\${#COMP_WORDS[@]} - 1))
        _email_worker
        [[ $files ]] && COMPREPLY+=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
        printf '%s\\n' "\${COMPREPLY[@]}"
        complete -p email-worker >&2`;
      return execFileSync('bash', ['-c', program, 'bash', script, line], {
        cwd: folder.path,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      })
        .split('\n')
        .filter((word) => word !== '')
        .sort();
    };
    expect(offers('email-worker ')).toEqual([...names, '--help', '--version'].sort());
    for (const [line, offered] of CASES) expect([line, offers(line)]).toEqual([line, offered]);
  });
});

describe.skipIf(skipWithout('completions of fish', 'fish'))('fish', () => {
  it('completes commands, options, values and files', async () => {
    const home = path.join(folder.path, 'fish');
    await mkdir(home);
    const script = path.join(folder.path, 'completion.fish');
    await writeFile(script, await print('fish'));
    await writeFile(path.join(folder.path, 'the-file.txt'), '');
    const env = { PATH: process.env.PATH ?? '', HOME: home, XDG_CONFIG_HOME: home, XDG_DATA_HOME: home };
    const offers = (line: string): readonly string[] =>
      execFileSync('fish', ['--no-config', '-c', 'source $argv[1]; complete -C $argv[2]', script, line], {
        cwd: folder.path,
        env,
        encoding: 'utf8',
      })
        .split('\n')
        .flatMap((one) => (one === '' ? [] : [one.split('\t')[0] ?? '']))
        .sort();
    expect(offers('email-worker ')).toEqual([...names].sort());
    for (const [line, offered] of CASES) expect([line, offers(line)]).toEqual([line, offered]);
  });
});

/** Tab in a zsh with a terminal of its own; the completions it would offer are printed between < and >. */
const ZSH = {
  init: `
    PROMPT= RPROMPT=
    unset zle_bracketed_paste
    setopt no_beep
    fpath=($FUNCTIONS $fpath)
    autoload -Uz compinit; compinit -u -D
    capture() {
      compadd() {
        local -a hits; local hit
        builtin compadd -A hits "$@"
        for hit in $hits; do print -r -- "<$hit>"; done
        builtin compadd "$@"
      }
      _main_complete
      print DONE
    }
    zle -C capture complete-word capture
    bindkey '^I' capture
    print REA''DY`,
  ask: `
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell "source $INIT"
    zpty -r -m shell seen '*READY*' > /dev/null
    zpty -w -n shell "$1"$'\\t'
    zpty -r -m shell seen '*DONE*'
    print -r -- "$seen"`,
};

describe.skipIf(skipWithout('completions of zsh', 'zsh'))('zsh', () => {
  it('completes commands, options, values and files', async () => {
    const functions = path.join(folder.path, 'functions');
    await mkdir(functions, { recursive: true });
    await writeFile(path.join(functions, '_email-worker'), await print('zsh'));
    await writeFile(path.join(folder.path, 'the-file.txt'), '');
    const init = path.join(folder.path, 'init.zsh');
    await writeFile(init, ZSH.init);
    const env = {
      PATH: process.env.PATH ?? '',
      HOME: functions,
      FUNCTIONS: functions,
      INIT: init,
      TERM: 'dumb',
    };
    const offers = (line: string): readonly string[] => {
      const seen = execFileSync('zsh', ['-f', '-c', ZSH.ask, 'zsh', line], {
        cwd: folder.path,
        env,
        encoding: 'utf8',
      });
      return [...new Set([...seen.matchAll(/<([^<>\r\n]*)>/g)].map(([, word = '']) => word.trim()))].sort();
    };
    expect(offers('email-worker ')).toEqual([...names].sort());
    // Each case starts a shell.
    for (const [line, offered] of CASES.filter((_, at) => at % 3 === 1)) {
      expect([line, offers(line)]).toEqual([line, offered]);
    }
  });
});
