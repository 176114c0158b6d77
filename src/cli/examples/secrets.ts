// Examples of `sekisho secrets`, each with what does the same with kubectl alone.
import type { Example } from './example.ts'

export const secretExamples: Readonly<Record<string, readonly Example[]>> = {
  'secrets list': [
    {
      line: 'sekisho secrets list shop',
      does: 'show names, versions and who uses them; values are shown to nobody',
      kubectl: "kubectl get appsecret shop -o jsonpath='{.status.keys}'",
    },
  ],
  'secrets set': [
    {
      line: 'sekisho secrets set shop DATABASE_URL',
      does: 'ask for the value without showing it; from a pipe, read it from there',
      kubectl: `kubectl patch appsecret shop --type merge -p '{"spec":{"values":{"DATABASE_URL":"…"}}}'`,
    },
    { line: 'sekisho secrets set shop TLS_KEY=@server.key API_TOKEN=-', does: 'take one value from a file and one from a pipe' },
    { line: 'sekisho secrets set npm NPM_TOKEN --no-attach', does: 'make an AppSecret for spec.build.secrets' },
  ],
  'secrets unset': [
    {
      line: 'sekisho secrets unset shop DATABASE_URL',
      does: 'remove a value',
      kubectl: `kubectl patch appsecret shop --type merge -p '{"spec":{"sealed":{"DATABASE_URL":null}}}'`,
    },
  ],
}
