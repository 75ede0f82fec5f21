/** A Dockerfile as its instructions, stage by stage. Parses only the syntax that ours uses. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './packed-files.ts';

export interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Each stage begins with its FROM. */
export type Stage = readonly Instruction[];

export function readStages(): readonly Stage[] {
  const text = readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(?:#|$)/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '');
  const stages: Instruction[][] = [];
  for (const line of text.split('\n')) {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`the Dockerfile has a line without an instruction: ${line}`);
    if (name === 'FROM') stages.push([]);
    stages.at(-1)!.push({ name, text: rest });
  }
  return stages;
}

/** The last instruction of that name in a stage, which is the one that the engine uses. */
export function last(stage: Stage, name: string): string {
  const found = stage.findLast((one) => one.name === name);
  if (found === undefined) throw new Error(`the stage has no ${name}`);
  return found.text;
}

/** The program and arguments that check if a container is healthy. */
export function readHealthCheck(stage: Stage): readonly string[] {
  const [, command = ''] = /\bCMD (\[.*\])$/.exec(last(stage, 'HEALTHCHECK')) ?? [];
  return JSON.parse(command) as string[];
}
