// A grant for the shop as an Application: its own pods get tokens, and a pod of a developer cannot run under its account.
import type { Pod } from '../../../../src/api/builtin/index.ts'
import { limits } from '../../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import { applicationName, type DemoContext, tenantNamespace } from '../../context.ts'
import { expectThat, type Step } from '../../steps.ts'
import { mustRun, run } from '../../tools.ts'
import { type DemoGrant, deleteGrant, readyGrant } from './grants.ts'

const grantName = 'demo-shop'
const account = `sekisho-app-${applicationName}`
const here = ['-n', tenantNamespace]

const grant: DemoGrant = {
  name: grantName,
  permissions: { contents: 'read', metadata: 'read' },
  subject: { kind: 'Application', name: applicationName },
  reason: 'the demo shows a token for the pods of one Application',
}

/** It runs in a pod of the shop, with the files that the platform puts there, and prints no token. */
const script = `
const { readFileSync } = require('node:fs')
const request = require('node:https').request('https://sekisho-token-desk.sekisho-system.svc/v1/token', {
  method: 'POST',
  ca: readFileSync('/var/run/sekisho-ca/ca.crt'),
  headers: { authorization: 'Bearer ' + readFileSync('/var/run/sekisho/token', 'utf8'), 'content-type': 'application/json' },
}, response => {
  const chunks = []
  response.on('data', chunk => chunks.push(chunk)).on('end', () => {
    const { token, repositories } = JSON.parse(Buffer.concat(chunks).toString())
    console.log(JSON.stringify({ status: response.statusCode, hasToken: token !== undefined, repositories: repositories?.map(one => one.fullName) }))
  })
})
request.on('error', error => { console.error(error.message); process.exit(1) })
request.end(JSON.stringify({ grant: '${grantName}' }))
`

type Answer = { readonly status: number; readonly hasToken: boolean; readonly repositories?: readonly string[] }

export function applicationGrantSteps(demo: DemoContext): readonly Step[] {
  const { dave } = demo.people
  const kubectl = (args: readonly string[]): Promise<string> => mustRun(dave, demo.tools.kubectl, args)
  return [
    {
      title: 'a grant for the Application shop: its pods get an account of their own and a token for acme/shop',
      run: async () => {
        // A grant for a ServiceAccount, of an earlier run, closes commands in the whole namespace.
        await deleteGrant(demo, dave, 'demo-reader')
        await readyGrant(demo, dave, grant)
        const pod = await waitUntil('a pod of the shop under its account', () => readyPod(kubectl), {
          timeoutMilliseconds: limits.rollout,
        })
        const command = ['/usr/local/bin/node', '-e', script]
        const answer: Answer = JSON.parse(await kubectl(['exec', pod.metadata.name, ...here, '--', ...command]))
        expectThat(answer.status === 200 && answer.hasToken, `the pod got no token: ${answer.status}`)
        return `pod ${pod.metadata.name} under ${account}: a token for ${answer.repositories?.join(', ')}`
      },
    },
    {
      title: 'dave cannot run a pod of his own under that account',
      run: async () => {
        const { code, errors } = await run(dave, demo.tools.kubectl, ['create', '--dry-run=server', '-f', '-'], {
          input: JSON.stringify(ownPod),
        })
        expectThat(code !== 0, 'a pod of dave under the account of the shop was not refused')
        expectThat(/only when the platform renders them/.test(errors), `it failed for another reason: ${errors.slice(0, 300)}`)
        await deleteGrant(demo, dave, grantName)
        return errors.replace(/\s+/g, ' ').trim().slice(0, 220)
      },
    },
  ]
}

async function readyPod(kubectl: (args: readonly string[]) => Promise<string>): Promise<Pod | undefined> {
  const { items }: { readonly items: readonly Pod[] } = JSON.parse(await kubectl(['get', 'pods', ...here, '-o', 'json']))
  return items.find(
    ({ metadata, spec, status }) =>
      metadata.deletionTimestamp === undefined &&
      spec?.serviceAccountName === account &&
      status?.conditions?.some(({ type, status: is }) => type === 'Ready' && is === 'True'),
  )
}

const ownPod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'demo-own', namespace: tenantNamespace },
  spec: {
    serviceAccountName: account,
    automountServiceAccountToken: false,
    securityContext: { runAsNonRoot: true, runAsUser: 1001, seccompProfile: { type: 'RuntimeDefault' } },
    containers: [
      {
        name: 'own',
        image: 'example.com/none@sha256:0000000000000000000000000000000000000000000000000000000000000000',
        securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
      },
    ],
  },
}
