// Examples of the commands for the audit log.
import type { Example } from './example.ts'

export const auditExamples: Readonly<Record<string, readonly Example[]>> = {
  'audit list': [
    { line: 'sekisho audit list --namespace acme --what deliveries', does: 'show who received tokens in acme' },
    {
      line: 'sekisho audit list --repository acme/shop --since yesterday --until 12:00',
      does: 'show what happened with one repository from yesterday until noon',
    },
    {
      line: 'sekisho audit list --person gary --limit 100000 -o jsonl',
      does: 'print everything about one person, for a program',
    },
  ],
  'audit show': [{ line: 'sekisho audit show 4711', does: 'show all of one entry, in words' }],
  'audit follow': [
    { line: 'sekisho audit follow --what decisions', does: 'print decisions as they are made' },
    { line: 'sekisho audit follow --after 4711 -o jsonl', does: 'pass every entry to a program, from where it was before' },
  ],
  'audit export': [
    { line: 'sekisho audit export', does: 'print the whole log with what proves it: > audit.jsonl' },
    {
      line: 'sekisho audit export --token-file /var/run/secrets/sekisho/token',
      does: 'the same in a pod, as its ServiceAccount and without a login',
    },
    { line: 'sekisho audit export --since 2026-10-01 --until 2026-11-01', does: 'print one month of it' },
  ],
  'audit verify': [
    { line: 'sekisho audit verify', does: 'verify what was appended since the last time, and all once a week' },
    {
      line: 'sekisho audit verify --all --checkpoint checkpoints.json',
      does: 'verify all of it, also against checkpoints that you kept',
    },
    { line: 'sekisho audit verify --export audit.jsonl --keys jwks.json', does: 'verify an export, without a platform' },
  ],
  'audit prune': [
    { line: 'sekisho audit prune --before 400d --reason retention', does: 'say which entries could be removed' },
    { line: 'sekisho audit prune --before 400d --reason retention --confirm', does: 'allow it' },
  ],
  'audit acknowledge': [
    { line: 'sekisho audit acknowledge --reason power-cut-of-3-March', does: 'record why entries are missing' },
  ],
}
