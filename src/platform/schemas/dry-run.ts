/** The query parameter `dry_run` of operations that offer one. */
export const DryRun = (description: string) =>
  ({
    type: 'object',
    additionalProperties: false,
    properties: { dry_run: { type: 'boolean', default: false, description } },
  }) as const;
