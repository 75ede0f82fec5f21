/** A state, shown by a word and a colour. */
interface StatusProps {
  readonly tone: 'good' | 'warn' | 'bad' | 'quiet';
  readonly children: string;
}

export function Status({ tone, children }: StatusProps) {
  return (
    <span className="status" data-tone={tone}>
      {children}
    </span>
  );
}
