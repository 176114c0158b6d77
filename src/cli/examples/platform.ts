// Examples of the commands for platform admins.
import type { Example } from './example.ts'

export const platformExamples: Readonly<Record<string, readonly Example[]>> = {
  'sessions list': [{ line: 'sekisho sessions list', does: 'show who is signed in' }],
  'sessions revoke': [{ line: "sekisho sessions revoke 'github|github.com|42'", does: 'end all sign-ins of one person' }],
  'keys status': [{ line: 'sekisho keys status', does: 'show whether a former sealing key can be removed' }],
  'keys reseal': [
    { line: 'sekisho keys reseal --dry-run', does: 'show how many values a former key seals' },
    { line: 'sekisho keys reseal --timeout 3600', does: 'wait until no value needs a former key' },
  ],
  'onboardings list': [{ line: 'sekisho onboardings list', does: 'show which accounts wait' }],
  'onboardings approve': [
    { line: 'sekisho onboardings approve 0b0e7a3c-5a4e-4c55-9d4b-0e6f5d1f2a3b', does: 'let its owner onboard the account' },
  ],
  'onboardings refuse': [
    {
      line: 'sekisho onboardings refuse 0b0e7a3c-5a4e-4c55-9d4b-0e6f5d1f2a3b --reason unknown',
      does: 'refuse it, with a reason for its owner',
    },
  ],
}
