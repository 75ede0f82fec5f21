/** Traces by OpenTelemetry. Its SDK reads more standard variables by itself: docs/operations.md names them. */
import { ConfigError } from './config-error.ts';
import { readUrl, readWord } from './config-values.ts';
import { readAll, secretVariable, variable, type Environment } from './variable.ts';

/** RFC 9110 §5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/i;

const endpoint = (name: string, meaning: string) =>
  variable(name, {
    parse: (value) => readUrl(name, value, ['http:', 'https:']),
    defaultText: 'none',
    meaning,
  });

export const TRACING_VARIABLES = {
  endpoint: endpoint(
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OpenTelemetry collector for traces, such as `http://127.0.0.1:4318`; `/v1/traces` is appended. Without it nothing is traced.',
  ),
  tracesEndpoint: endpoint(
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
    'Complete URL for traces, in place of OTEL_EXPORTER_OTLP_ENDPOINT.',
  ),
  headers: secretVariable('OTEL_EXPORTER_OTLP_HEADERS', {
    parse: readHeaders,
    defaultText: 'none',
    meaning:
      'Header fields of requests to the collector, such as `authorization=Bearer%20secret`; values are percent-encoded.',
  }),
  protocol: variable('OTEL_EXPORTER_OTLP_PROTOCOL', {
    parse: (value, name) => readWord(name, value ?? 'http/protobuf', ['http/protobuf']),
    defaultText: 'http/protobuf',
    meaning: 'No other protocol is supported.',
  }),
  exporter: variable('OTEL_TRACES_EXPORTER', {
    parse: (value, name) => readWord(name, value ?? 'otlp', ['otlp', 'none']),
    defaultText: 'otlp',
    meaning:
      '`none`: nothing is traced, whatever the other variables are. `OTEL_SDK_DISABLED=true` has the same effect.',
  }),
};

export interface TracingConfig {
  readonly headers: Readonly<Record<string, string>>;
}

/** null: tracing is off. */
export function readTracing(env: Environment): TracingConfig | null {
  const { endpoint: base, tracesEndpoint, headers, exporter } = readAll(TRACING_VARIABLES, env);
  const isOff = exporter === 'none' || env.get('OTEL_SDK_DISABLED')?.toLowerCase() === 'true';
  return isOff || (base === null && tracesEndpoint === null) ? null : { headers };
}

/** `name=value` pairs, separated by commas (W3C Baggage, without properties). */
function readHeaders(text: string | null, name: string): Readonly<Record<string, string>> {
  if (text === null) return {};
  return Object.fromEntries(
    text
      .split(',')
      .filter((one) => one.trim() !== '')
      .map((one) => {
        const [field = '', value = ''] = one.split(/=(.*)/s).map((part) => part.trim());
        try {
          const decoded = decodeURIComponent(value);
          // RFC 9110 §5.5: the characters that a field may contain
          if (TOKEN.test(field) && /^[\t\x20-\x7e]+$/.test(decoded)) return [field, decoded];
        } catch {
          // The value is not percent-encoded.
        }
        throw new ConfigError(name, 'must be name=value pairs with commas between them, percent-encoded');
      }),
  );
}
