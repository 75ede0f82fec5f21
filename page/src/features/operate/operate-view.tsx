/** The operators' part of the page, loaded on demand. */
import { Link } from '@tanstack/react-router';
import { MessageCircleQuestion } from '../../ui/icons.tsx';
import { lazy, Suspense, type ComponentType } from 'react';
import { DrawerButton } from '../../app/drawer-button.tsx';
import { useSession } from '../../app/session.tsx';
import { Bones } from '../../ui/bones.tsx';
import { Empty } from '../../ui/empty.tsx';
import { Accounts } from './accounts.tsx';
import { Audit } from './audit.tsx';
import { Imports } from './imports.tsx';
import { Keys } from './keys.tsx';
import { Merges } from './merges.tsx';
import { useOperateWords } from './operate-words.ts';
import { Quarantine } from './quarantine.tsx';
import { isSection, SECTIONS, type Section } from './sections.ts';
import { Rules } from './rules.tsx';
import { Sends } from './sends.tsx';
import { Sessions } from './sessions.tsx';
import { Suppressions } from './suppressions.tsx';
import { Webhooks } from './webhooks.tsx';
import './operate.css';

/** Loaded apart, together with the plot library. */
const Figures = lazy(async () => ({ default: (await import('./figures.tsx')).Figures }));

const VIEWS: Readonly<Record<Section, ComponentType>> = {
  accounts: Accounts,
  sends: Sends,
  suppressions: Suppressions,
  rules: Rules,
  quarantine: Quarantine,
  merges: Merges,
  figures: Figures,
  imports: Imports,
  webhooks: Webhooks,
  keys: Keys,
  audit: Audit,
  sessions: Sessions,
};

/** On a phone the tabs reach beyond the screen. */
const intoView = (tabs: HTMLElement | null): void => {
  tabs?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
};

export function OperateView({ section }: { readonly section: string }) {
  const { text, operate } = useOperateWords();
  const { rights } = useSession();
  const open = (Object.keys(VIEWS) as Section[]).filter((name) => {
    const right = SECTIONS[name];
    return right === null || rights.includes(right) || rights.includes('admin');
  });
  const current = isSection(section) && open.includes(section) ? section : null;
  const name = current === null ? operate.title : operate.sections[current];
  const View = current === null ? null : VIEWS[current];
  return (
    <main className="operate" id="list" tabIndex={-1}>
      <header className="operate-head">
        <DrawerButton />
        <h1>{operate.title}</h1>
        <nav key={section} ref={intoView} className="operate-tabs" aria-label={operate.title}>
          {open.map((name) => (
            <Link
              key={name}
              to="/operate/$section"
              params={{ section: name }}
              activeProps={{ 'aria-current': 'page' }}
            >
              {operate.sections[name]}
            </Link>
          ))}
        </nav>
      </header>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- scrolled by keys, also where nothing in it can be pressed */}
      <div className="operate-scroll" role="region" aria-label={name} tabIndex={0}>
        <div className="operate-body">
          {View === null || current === null ? (
            <Empty icon={MessageCircleQuestion} title={text.app.notFound} />
          ) : (
            <>
              <h2>{name}</h2>
              <p className="operate-hint">{operate[current].hint}</p>
              <Suspense fallback={<Bones count={1} shape={<div className="operate-bone bone" />} />}>
                <View />
              </Suspense>
            </>
          )}
        </div>
      </div>
    </main>
  );
}
