// Examples of the commands for builds.
import type { Example } from './example.ts'

export const buildExamples: Readonly<Record<string, readonly Example[]>> = {
  'builds list': [
    { line: 'sekisho builds', does: 'show the newest builds of your namespace, and those that wait' },
    { line: 'sekisho builds list -n acme --remote-sync shop -o wide', does: 'show why builds of one RemoteSync failed' },
  ],
  'builds logs': [
    {
      line: 'sekisho builds logs -f shop',
      does: 'follow the newest build of RemoteSync shop, or that of the commit just pushed from this folder; exit code 6 when it fails',
    },
    {
      line: 'sekisho builds logs -f shop --commit 3f2a1b4c5d6e',
      does: 'wait for the build of a commit and follow it, as in a pipeline after git push',
    },
    { line: 'sekisho builds logs shop-0123456789ab --tail 100', does: 'show the last 100 lines of one build' },
  ],
  'builds retry': [
    {
      line: 'sekisho builds retry shop',
      does: 'build the newest commit of shop again, after its build failed',
      kubectl: `kubectl patch remotesync shop --type merge -p '{"spec":{"retriedAt":"2026-01-31T12:00:00Z"}}'`,
    },
  ],
}
