/** Imports of mail files: the progress of each, while it runs and afterwards. */
import type { Import } from 'email-worker-client';
import { FileInput } from '../../ui/icons.tsx';
import { client } from '../../api/client.ts';
import { useOperateWords } from './operate-words.ts';
import { Paged } from './paged.tsx';
import { Status } from './status.tsx';

const RUNNING_REFRESH_MS = 2000;

const TONES = {
  running: 'quiet',
  done: 'good',
  stopped: 'warn',
  cut_off: 'bad',
  failed: 'bad',
} as const satisfies Readonly<Record<Import['state'], string>>;

export function Imports() {
  const { imports: words } = useOperateWords().operate;
  return (
    <Paged<Import>
      name={['imports']}
      list={(options) => ({
        page: async () => ({ items: [...(await client.imports.list({}, options))], nextCursor: null }),
      })}
      empty={{ icon: FileInput, title: words.empty, hint: words.emptyHint }}
      refreshMs={(items) => (items.some(({ state }) => state === 'running') ? RUNNING_REFRESH_MS : null)}
    >
      {(imports) => (
        <ul className="cards">
          {imports.map((one) => (
            <ImportCard key={one.id} one={one} />
          ))}
        </ul>
      )}
    </Paged>
  );
}

function ImportCard({ one }: { readonly one: Import }) {
  const { operate, format } = useOperateWords();
  const words = operate.imports;
  const { state, bytes_done: done, bytes_total: total } = one;
  const share = total === null ? null : total === 0 ? 1 : Math.min(1, done / total);
  const seconds = (Date.parse(one.updated_at) - Date.parse(one.started_at)) / 1000;
  return (
    <li className="card">
      <div className="card-head">
        <h3 className="truncate">{words.title(one.account_id)}</h3>
        <Status tone={TONES[state]}>{words.states[state]}</Status>
      </div>
      <p className="card-sub">{words.began(format.full(one.started_at), format.duration(seconds))}</p>
      {state !== 'done' && (
        <div className="import-progress">
          <progress
            aria-label={words.progress}
            // Without a value the bar only shows that the import is running.
            {...(share === null && state === 'running' ? {} : { value: share ?? 0, max: 1 })}
          />
          <span>
            {total === null
              ? words.read(format.size(done))
              : words.readOf(format.size(done), format.size(total), format.share(share ?? 0))}
          </span>
        </div>
      )}
      <dl className="import-counts">
        {(['imported', 'known', 'left_out', 'failed'] as const).map((kind) => (
          <div key={kind} data-is-bad={kind === 'failed' && one.failed > 0 ? '' : undefined}>
            <dt>{words.counts[kind]}</dt>
            <dd>{format.count(one[kind])}</dd>
          </div>
        ))}
      </dl>
      {(state === 'cut_off' || state === 'stopped' || state === 'failed') && (
        <p className="card-warning">{words.goOn}</p>
      )}
    </li>
  );
}
