// Examples of the commands for previews.
import type { Example } from './example.ts'

const commit = '2fd4e1c67a2d28fced849ee1bb76e7391b93eb12'

export const previewExamples: Readonly<Record<string, readonly Example[]>> = {
  'previews list': [
    {
      line: 'sekisho previews',
      does: 'show the open pull requests of your namespace and their previews',
      kubectl: 'kubectl get apppipelines -o yaml',
    },
    { line: 'sekisho previews list shop -o wide', does: 'show why pull requests of one AppPipeline have no preview' },
  ],
  'previews approve': [
    {
      line: `sekisho previews approve shop 7 --commit ${commit}`,
      does: 'let this commit of pull request 7, which is in a fork, be built and run',
    },
  ],
  'previews pause': [
    {
      line: 'sekisho previews pause shop 7',
      does: 'stop the preview of pull request 7',
      kubectl: "kubectl get apppipeline shop -o json | jq '.spec.paused += [7]' | kubectl replace -f -",
    },
    { line: 'sekisho previews pause shop 7 8 --dry-run', does: 'ask whether you may stop two' },
  ],
  'previews resume': [
    {
      line: 'sekisho previews resume shop 7',
      does: 'start the preview of pull request 7 again',
      kubectl: "kubectl get apppipeline shop -o json | jq '.spec.paused -= [7]' | kubectl replace -f -",
    },
  ],
}
