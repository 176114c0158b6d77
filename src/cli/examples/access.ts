// Examples of the commands about access and tokens.
import type { Example } from './example.ts'

export const accessExamples: Readonly<Record<string, readonly Example[]>> = {
  'access repository': [
    { line: 'sekisho access repository acme/shop', does: 'show who can reach acme/shop now, and who has a token' },
    {
      line: 'sekisho access repository acme/shop --at yesterday',
      does: 'show who could at the beginning of yesterday',
    },
    {
      line: 'sekisho access repository 4001 --since 30d -o json',
      does: 'show who could and who did in thirty days, for a program',
    },
  ],
  'access person': [
    { line: 'sekisho access person gary --since 7d', does: 'show what was reached in the name of gary in a week' },
  ],
  'access workload': [{ line: 'sekisho access workload acme/ci', does: 'show what the ServiceAccount ci of acme can reach' }],
  'tokens list': [
    { line: 'sekisho tokens list --repository acme/shop', does: 'show the live tokens that reach acme/shop' },
    { line: 'sekisho tokens list --namespace acme -o json', does: 'print those of a namespace, for a program' },
    {
      line: 'sekisho tokens list -o json --token-file /var/run/secrets/sekisho/token',
      does: 'the same of all in a pod, as its ServiceAccount and without a login',
    },
  ],
  'tokens show': [
    { line: 'sekisho tokens show 5f0c2a1e-7d1b-4c8e-9a57-1d2f3b4c5d6e', does: 'say whose a live token is, and who received it' },
    {
      line: 'sekisho tokens show --token-stdin',
      does: 'say whose a leaked token is: pbpaste | sekisho tokens show --token-stdin',
    },
    {
      line: 'sekisho tokens show --hash n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg=',
      does: 'the same by hashed_token of GitHub’s audit log',
    },
  ],
}
