// Examples of the commands for the audit log.
import type { Example } from './example.ts'

export const auditExamples: Readonly<Record<string, readonly Example[]>> = {
  'audit list': [
    { line: 'sekisho audit list --namespace acme --action token.delivered', does: 'show who received tokens in acme' },
    {
      line: 'sekisho audit list --namespace acme --action token.delivered --repository 4001 --since 1h',
      does: 'show who received tokens for one repository in the last hour',
    },
    { line: "sekisho audit list --actor 'github|github.com|42' --limit 1000 -o json", does: 'show what one person did' },
  ],
  'audit verify': [
    { line: 'sekisho audit verify', does: 'verify the whole log' },
    { line: 'sekisho audit verify --checkpoint checkpoints.json', does: 'verify it also against checkpoints that you kept' },
  ],
  'audit acknowledge': [
    { line: 'sekisho audit acknowledge --reason power-cut-of-3-March', does: 'record why entries are missing' },
  ],
}
