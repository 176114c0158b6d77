// A grant for the shop as an Application: its own pods get tokens, and a pod of a developer cannot run under its account.
import { limits } from '../../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import { applicationName, type DemoContext } from '../../context.ts'
import { expectThat, type Step } from '../../steps.ts'
import { type DemoGrant, deleteGrant, readyGrant } from './grants.ts'
import { inShopPod, ownPodRefused, readyShopPod, shopAccount } from './shop-account.ts'

const grantName = 'demo-shop'

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
  return [
    {
      title: 'a grant for the Application shop: its pods get an account of their own and a token for acme/shop',
      run: async () => {
        // A grant for a ServiceAccount, of an earlier run, closes commands in the whole namespace.
        await deleteGrant(demo, dave, 'demo-reader')
        await readyGrant(demo, dave, grant)
        const pod = await waitUntil('a pod of the shop under its account', () => readyShopPod(demo, dave), {
          timeoutMilliseconds: limits.rollout,
        })
        const answer: Answer = JSON.parse(await inShopPod(demo, dave, pod, script))
        expectThat(answer.status === 200 && answer.hasToken, `the pod got no token: ${answer.status}`)
        return `pod ${pod.metadata.name} under ${shopAccount}: a token for ${answer.repositories?.join(', ')}`
      },
    },
    {
      title: 'dave cannot run a pod of his own under that account',
      run: async () => {
        const spec = { serviceAccountName: shopAccount }
        const said = await ownPodRefused(demo, dave, spec, /only when the platform renders them/)
        await deleteGrant(demo, dave, grantName)
        return said
      },
    },
  ]
}
