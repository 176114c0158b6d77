// A token in a Secret, which a platform admin opens by a policy: the pods of the Application read it as a file, and nobody else
// reads it, neither by the API nor by a pod of their own, nor with the built-in role edit.
import type { RepositoryGrant } from '../../../../src/api/github/repository-grant.ts'
import { tokenSecretName } from '../../../../src/api/reserved-secrets.ts'
import { limits } from '../../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../../src/lib/waiting/wait-until.ts'
import { applicationName, type DemoContext, tenantNamespace } from '../../context.ts'
import { expectThat, type Step } from '../../steps.ts'
import { mustRun, type Result, run } from '../../tools.ts'
import { type DemoGrant, deleteGrant, grantManifest } from './grants.ts'
import { inShopPod, ownPodRefused, readyShopPod, shopAccount } from './shop-account.ts'

const grantName = 'demo-secret'
const secretName = tokenSecretName(shopAccount, grantName)
const holder = 'demo-holder-of-edit'
const here = ['-n', tenantNamespace]

const policy = `apiVersion: github.sekisho.dev/v1alpha1
kind: ClusterGrantPolicy
metadata: {name: demo-secrets}
spec:
  rules:
  - name: reading
    effect: Allow
    permissions: {contents: read, metadata: read}
    deliveries: [Secret]
`

const grant: DemoGrant = {
  name: grantName,
  permissions: { contents: 'read', metadata: 'read' },
  subject: { kind: 'Application', name: applicationName },
  delivery: 'Secret',
  reason: 'the demo shows a token in a Secret',
}

/** It runs in a pod of the shop, and prints no token. The kubelet writes the file within about a minute. */
const script = (api: string): string => `
const { existsSync, readFileSync } = require('node:fs')
const file = '/var/run/sekisho-tokens/${grantName}/token'
const status = async (path, token) => (await fetch('${api}' + path, { headers: { authorization: 'token ' + token } })).status
;(async () => {
  if (!existsSync(file)) return console.log(JSON.stringify({ isThere: false }))
  const token = readFileSync(file, 'utf8')
  console.log(JSON.stringify({ isThere: true, shop: await status('/repos/acme/shop', token), secretPlans: await status('/repos/acme/secret-plans', token) }))
})().catch(error => { console.error(error.message); process.exit(1) })
`

type Answer = { readonly isThere: boolean; readonly shop?: number; readonly secretPlans?: number }

/** @param kubeconfig Of a cluster administrator. */
export function applicationSecretSteps(demo: DemoContext, kubeconfig: string): readonly Step[] {
  const { dave } = demo.people
  const kubectl = (args: readonly string[], input?: string): Promise<string> =>
    mustRun(dave, demo.tools.kubectl, args, input === undefined ? {} : { input })
  const asAdmin = (args: readonly string[], input?: string): Promise<Result> =>
    run(dave, demo.tools.kubectl, ['--kubeconfig', kubeconfig, ...args], input === undefined ? {} : { input })
  const forget = async (): Promise<void> => {
    await deleteGrant(demo, dave, grantName)
    await asAdmin(['delete', 'clustergrantpolicy/demo-secrets', '--ignore-not-found'])
    await asAdmin(['delete', `rolebinding/${holder}`, ...here, '--ignore-not-found'])
  }
  const grantSays = async (type: string, status: string): Promise<string> => {
    const grant: RepositoryGrant = JSON.parse(await kubectl(['get', `repositorygrant/${grantName}`, ...here, '-o', 'json']))
    const condition = grant.status?.conditions?.find(one => one.type === type)
    if (condition?.status !== status) throw new Error(`${condition?.reason}: ${condition?.message}`)
    return condition.message
  }
  return [
    {
      title: 'a token in a Secret is denied until a platform admin opens that delivery by a ClusterGrantPolicy',
      run: async () => {
        await forget()
        await kubectl(['apply', '-f', '-'], grantManifest(grant))
        const denied = await waitUntil('the grant to be denied', () => grantSays('Ready', 'False'))
        expectThat(denied.includes('deliveries'), `it was denied for another reason: ${denied}`)
        const { code, errors } = await asAdmin(['apply', '-f', '-'], policy)
        expectThat(code === 0, `the policy was not written: ${errors}`)
        const delivered = await waitUntil('the token to be in the Secret', () => grantSays('Delivered', 'True'))
        return `${denied}\nthen: ${delivered}`
      },
    },
    {
      title: 'the pod of the shop reads the file, and acme/shop with it; no other repository',
      run: async () => {
        const answer = await waitUntil('a pod of the shop to have the file', () => fileInPod(demo), {
          timeoutMilliseconds: limits.rollout,
        })
        expectThat(answer.shop === 200, `the token does not read acme/shop: ${answer.shop}`)
        expectThat(answer.secretPlans === 404 || answer.secretPlans === 403, `it reads acme/secret-plans: ${answer.secretPlans}`)
        return `acme/shop ${answer.shop}, acme/secret-plans ${answer.secretPlans}`
      },
    },
    {
      title: 'dave reads that Secret neither by kubectl nor by a pod of his own',
      run: async () => {
        const read = await run(dave, demo.tools.kubectl, ['get', `secret/${secretName}`, ...here])
        expectThat(read.code !== 0 && /forbidden/i.test(read.errors), `dave reads the Secret: ${read.output}${read.errors}`)
        const spec = { volumes: [{ name: 'token', secret: { secretName } }] }
        return ownPodRefused(demo, dave, spec, /of pods under the ServiceAccount/)
      },
    },
    {
      title:
        'a holder of the built-in edit, whom an administrator bound in acme, does not read it either; with the grant it goes',
      run: async () => {
        const bound = await asAdmin(['create', 'rolebinding', holder, '--clusterrole=edit', `--user=${holder}`, ...here])
        expectThat(bound.code === 0, `the role was not bound: ${bound.errors}`)
        const can = await waitUntil('the role to hold', async () => {
          const { output } = await asAdmin(['auth', 'can-i', 'list', 'pods', `--as=${holder}`, ...here])
          return output.trim() === 'yes' ? output : undefined
        })
        const read = await asAdmin(['get', `secret/${secretName}`, `--as=${holder}`, ...here])
        expectThat(read.code !== 0 && /forbidden/i.test(read.errors), 'a holder of edit reads the Secret')
        await forget()
        const gone = await asAdmin(['get', `secret/${secretName}`, ...here])
        expectThat(/not found/i.test(gone.errors), `the Secret is still there: ${gone.output}`)
        return `lists pods: ${can.trim()}; ${read.errors.trim().slice(0, 220)}`
      },
    },
  ]
}

/** Undefined while no pod of the shop is ready under its account, or the kubelet has not written the file. */
async function fileInPod(demo: DemoContext): Promise<Answer | undefined> {
  const { dave } = demo.people
  const pod = await readyShopPod(demo, dave)
  if (pod === undefined) return undefined
  const answer: Answer = JSON.parse(await inShopPod(demo, dave, pod, script(demo.githubApi)))
  return answer.isThere ? answer : undefined
}
