// Examples of the commands on Applications, each with what does the same with kubectl alone.
import type { Example } from './example.ts'

export const applicationExamples: Readonly<Record<string, readonly Example[]>> = {
  status: [
    { line: 'sekisho status', does: 'show all applications', kubectl: 'kubectl get applications,remotesyncs' },
    {
      line: 'sekisho status shop -o json',
      does: 'everything about one, for programs',
      kubectl: 'kubectl describe application shop',
    },
  ],
  ps: [{ line: 'sekisho ps shop', does: 'show the pods of shop', kubectl: 'kubectl get pods -l sekisho.dev/application=shop' }],
  logs: [
    {
      line: 'sekisho logs -f shop web',
      does: 'follow what the web process writes',
      kubectl:
        'kubectl logs -f --prefix --max-log-requests 20 -l sekisho.dev/application=shop,sekisho.dev/process=web (ends with its pods)',
    },
    {
      line: 'sekisho logs shop --previous',
      does: 'show what was written before the last crash',
      kubectl: 'kubectl logs --previous <pod>',
    },
  ],
  why: [
    {
      line: 'sekisho why application/shop',
      does: 'find out why shop does not answer',
      kubectl: 'kubectl describe remotesync,repositorygrant,application,deployment,pod,ingress, one after the other, and curl',
    },
    { line: 'sekisho why domain/shop.example.com', does: 'find out why a host name does not work' },
  ],
  releases: [
    {
      line: 'sekisho releases shop',
      does: 'show the releases',
      kubectl: 'kubectl get releases --field-selector spec.application.name=shop',
    },
  ],
  open: [
    {
      line: 'sekisho open shop',
      does: 'open its URL',
      kubectl: "kubectl get application shop -o jsonpath='{.status.url}'",
    },
  ],
  scale: [
    {
      line: 'sekisho scale shop web=3 worker=1',
      does: 'run three web pods and one worker',
      kubectl:
        'kubectl scale application shop --replicas=3 for web; for another, kubectl patch with its place in the list (docs/guide/cli.md)',
    },
  ],
  deploy: [
    {
      line: 'sekisho deploy shop --image registry.example.com/shop@sha256:0123',
      does: 'run an image by its digest',
      kubectl: `kubectl patch application shop --type merge -p '{"spec":{"image":"…","commit":null}}'`,
    },
    {
      line: 'sekisho deploy shop --image registry.example.com/shop:v1 --follow-tag',
      does: 'run what a tag means, also when it moves',
      kubectl: `kubectl patch application shop --type merge -p '{"spec":{"image":"…","commit":null,"followTag":true}}'`,
    },
  ],
  transfer: [
    {
      line: 'sekisho transfer remotesync/shop',
      does: 'let shop be built in your name',
      kubectl: `kubectl patch remotesync shop --type merge -p '{"spec":{"requestedBy":"<your name in kubectl auth whoami>"}}'`,
    },
  ],
  rollback: [
    {
      line: 'sekisho rollback shop 7',
      does: 'run release v7 again',
      kubectl: `kubectl patch application shop --type merge -p '{"spec":{"pinnedRelease":7}}'`,
    },
    {
      line: 'sekisho rollback shop --resume',
      does: 'run the newest release again',
      kubectl: `kubectl patch application shop --type merge -p '{"spec":{"pinnedRelease":null}}'`,
    },
  ],
  restart: [
    {
      line: 'sekisho restart shop',
      does: 'replace all pods',
      kubectl: `kubectl patch application shop --type merge -p '{"spec":{"restartedAt":"2026-01-31T12:00:00Z"}}'`,
    },
  ],
  'env list': [
    {
      line: 'sekisho env list shop',
      does: 'list the variables, and the keys of ConfigMaps and AppSecrets that are taken whole',
      kubectl: "kubectl get application shop -o jsonpath='{.spec.env} {.spec.envFrom}'",
    },
  ],
  'env set': [
    {
      line: 'sekisho env set shop LOG_LEVEL=debug',
      does: 'set a variable and restart the processes',
      kubectl: `kubectl get application shop -o json | jq '.spec.env = [.spec.env[]? | select(.name != "LOG_LEVEL")] + [{name: "LOG_LEVEL", value: "debug"}]' | kubectl replace -f -`,
    },
  ],
  'env unset': [
    {
      line: 'sekisho env unset shop LOG_LEVEL',
      does: 'remove a variable',
      kubectl: `kubectl get application shop -o json | jq '.spec.env = [.spec.env[]? | select(.name != "LOG_LEVEL")]' | kubectl replace -f -`,
    },
  ],
}
