// Examples of the commands for policies.
import type { Example } from '../example.ts'

export const policyExamples: Readonly<Record<string, readonly Example[]>> = {
  'policy list': [
    { line: 'sekisho policy list', does: 'show which policies decide in your namespace', kubectl: 'kubectl get grantpolicies' },
    { line: 'sekisho policy list -A -o json', does: 'as a platform admin: all of them, for programs' },
  ],
  'policy show': [
    {
      line: 'sekisho policy show releases',
      does: 'show the rules of a policy',
      kubectl: 'kubectl get grantpolicy releases -o yaml',
    },
    { line: 'sekisho policy show what-tenants-may-allow --platform', does: 'as a platform admin: show one of the platform' },
  ],
  'policy test': [
    { line: 'sekisho policy test -f new.yaml', does: 'ask which grants of your namespace a policy would end' },
    {
      line: 'sekisho policy test -f new.yaml --since 30d',
      does: 'ask also what it would have said to grants of the last month that are gone',
    },
    { line: 'sekisho policy test -f cap.yaml -A -o json', does: 'as a platform admin: of all tenants, for programs' },
  ],
}
