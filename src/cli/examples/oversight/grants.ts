// Examples of the commands for grants.
import type { Example } from '../example.ts'

export const grantExamples: Readonly<Record<string, readonly Example[]>> = {
  'grants list': [
    { line: 'sekisho grants list', does: 'show who was granted what', kubectl: 'kubectl get repositorygrants' },
    { line: 'sekisho grants list --waiting', does: 'show what waits for an admin of the tenant' },
    { line: 'sekisho grants list -A -o json', does: 'as a platform admin: all of them, for programs' },
  ],
  'grants explain': [
    {
      line: 'sekisho grants explain push-shop',
      does: 'show what it gives, who decided, and what is missing',
      kubectl: 'kubectl describe repositorygrant push-shop',
    },
  ],
  'grants request': [
    {
      line: 'sekisho grants request --repository acme/shop --permission contents=read --for Application/web --reason templates',
      does: 'request access for the pods of an Application',
    },
    {
      line: 'sekisho grants request publish --repository acme/shop --permission contents=write --for ServiceAccount/release --delivery GitProxy --lifetime 7d --reason releases --wait',
      does: 'request it for a week through the git proxy, and wait until it is decided or somebody is asked',
    },
    {
      line: 'sekisho grants request --repository acme/shop --permission contents=read --for Application/web --reason why --dry-run -o yaml',
      does: 'print the manifest, and store nothing',
    },
  ],
  'grants approve': [
    {
      line: 'sekisho grants approve push-shop --uid 0a5e1f7c-3b1d-4c62-9f0e-6d2f8b7a9c11 --reason reviewed',
      does: 'approve what another person requested',
    },
    {
      line: 'sekisho grants approve push-shop --uid 0a5e1f7c-3b1d-4c62-9f0e-6d2f8b7a9c11 --reason reviewed --dry-run',
      does: 'ask whether you may, and store nothing',
    },
    {
      line: 'sekisho grants approve push-shop --uid 0a5e1f7c-3b1d-4c62-9f0e-6d2f8b7a9c11 --break-glass --for 30m --reason outage',
      does: 'as a platform admin, in an emergency: stand for everybody who would have to approve',
    },
  ],
  'grants deny': [{ line: 'sekisho grants deny push-shop --reason mistaken', does: 'deny it; live tokens under it end' }],
  'grants withdraw': [{ line: 'sekisho grants withdraw push-shop', does: 'take your answer back: the grant is decided again' }],
}
