// Examples of the commands for halts.
import type { Example } from '../example.ts'

export const haltExamples: Readonly<Record<string, readonly Example[]>> = {
  halt: [
    {
      line: 'sekisho halt token --token-stdin --reason leaked',
      does: 'revoke a leaked token, which is read from standard input, and keep its subject from getting another one',
    },
    {
      line: 'sekisho halt repository acme/shop --reason leaked --dry-run',
      does: 'ask which tokens and grants would end',
    },
    {
      line: 'sekisho halt person github.com/42 --platform --reason left',
      does: 'as a platform admin: end the tokens, sign-ins and onboardings of a person, and let nothing new begin',
    },
    {
      line: 'sekisho halt tenant acme --platform --scale-to-zero --reason attacked',
      does: 'as a platform admin: stop a tenant with its pods',
    },
  ],
  resume: [
    {
      line: 'sekisho resume token-x7k2p --reason mended',
      does: 'lift a halt of your tenant',
      kubectl:
        'kubectl patch halt token-x7k2p --type merge -p \'{"spec":{"lifted":{"by":"<kubectl auth whoami>","reason":"the log is deleted"}}}\'',
    },
    {
      line: 'sekisho resume person-9d2ks --platform --reason back',
      does: 'as a platform admin: lift one of the platform',
    },
  ],
  halts: [
    { line: 'sekisho halts', does: 'show what is halted in your namespace', kubectl: 'kubectl get halts' },
    { line: 'sekisho halts -A -o json', does: 'as a platform admin: all of them, for programs' },
  ],
}
