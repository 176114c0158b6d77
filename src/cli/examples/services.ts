// Examples of `sekisho services`, each with what does the same with kubectl alone.
import type { Example } from './example.ts'

export const serviceExamples: Readonly<Record<string, readonly Example[]>> = {
  'services classes': [
    {
      line: 'sekisho services classes',
      does: 'show what the platform offers, and in which plans',
      kubectl: 'kubectl get serviceclasses',
    },
    {
      line: 'sekisho services classes postgresql',
      does: 'show the plans and extensions of one',
      kubectl: 'kubectl describe serviceclass postgresql',
    },
  ],
  'services create': [
    {
      line: 'sekisho services create shop-db --wait',
      does: 'make a database of the only class of databases, in its default plan',
      kubectl: 'kubectl apply -f shop-db.yaml, a ServiceInstance, and kubectl wait --for=condition=Ready serviceinstance/shop-db',
    },
    {
      line: 'sekisho services create maps --class postgresql --plan large --extension pg_trgm --extension unaccent',
      does: 'make one of another plan, with extensions',
    },
    { line: 'sekisho services create pictures --class bucket --wait', does: 'make a bucket of the class bucket' },
    {
      line: 'sekisho services create scratch --when-deleted Delete --dry-run -o yaml',
      does: 'write the manifest of one whose data go with it',
    },
  ],
  'services list': [
    {
      line: 'sekisho services list',
      does: 'show the services of the namespace, and who uses them',
      kubectl: 'kubectl get serviceinstances,buckets -o wide',
    },
  ],
  'services info': [
    {
      line: 'sekisho services info shop-db',
      does: 'show its use, its users and the ages of its credentials',
      kubectl: 'kubectl describe serviceinstance shop-db, and kubectl get servicebindings -o yaml',
    },
  ],
  'services delete': [
    {
      line: 'sekisho services delete shop-db',
      does: 'delete it; its data stay for one of the same name',
      kubectl: 'kubectl delete serviceinstance shop-db',
    },
    { line: 'sekisho services delete scratch --delete-data --wait', does: 'delete one with its data' },
  ],
  'services attach': [
    {
      line: 'sekisho services attach shop-db shop',
      does: 'give shop the variable DATABASE_URL',
      kubectl: `kubectl get application shop -o json | jq '.spec.services += [{name: "shop-db", instance: "shop-db"}]' | kubectl replace -f -`,
    },
    {
      line: 'sekisho services attach shop-db report --name db --access ReadOnly --env REPORT_URL=uri --files --wait',
      does: 'give report a credential that only reads, in another variable and as files, and wait for it',
    },
    {
      line: 'sekisho services attach pictures shop --access WriteOnly --prefix inbox/',
      does: 'give shop a key of the bucket pictures that only writes, and only below inbox/',
    },
  ],
  'services detach': [
    {
      line: 'sekisho services detach shop-db shop',
      does: 'take it away again',
      kubectl: `kubectl get application shop -o json | jq '.spec.services = [.spec.services[]? | select(.instance != "shop-db")]' | kubectl replace -f -`,
    },
  ],
  'services rotate': [
    {
      line: 'sekisho services rotate shop-db',
      does: 'replace all its credentials, and wait until the new ones are delivered',
      kubectl: `kubectl patch servicebinding shop-shop-db-1f0c95d2 --type merge -p '{"spec":{"rotate":"'$(date -u +%FT%TZ)'"}}'`,
    },
    { line: 'sekisho services rotate shop-db --application shop', does: 'only the one that shop has' },
  ],
}
