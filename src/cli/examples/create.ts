// Examples of making applications.
import type { Example } from './example.ts'

export const createExamples: Readonly<Record<string, readonly Example[]>> = {
  create: [
    {
      line: 'sekisho create --repository acme/shop',
      does: 'make the application shop, which is built from the default branch',
      kubectl: 'kubectl apply -f of an Application and a RemoteSync (docs/guide/first-application.md)',
    },
    {
      line: 'sekisho create --repository acme/shop --dry-run -o yaml',
      does: 'print the manifests, for a file that you keep',
    },
  ],
  init: [
    { line: 'sekisho init', does: 'write sekisho.yaml from the files of this folder, and say what could not be taken over' },
  ],
}
