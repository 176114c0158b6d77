// The layers that are settings of the API server of the local cluster: the authorizer before RBAC, and Pod Security. Labels of
// namespaces are no switch: the controllers put them back at once. Every start of the cluster brings both back.
import { limits } from '../../../src/lib/waiting/limits.ts'
import { waitUntil } from '../../../src/lib/waiting/wait-until.ts'
import type { ApiServerLayer } from '../../cluster/control-plane/programs.ts'
import { dryRun, type LayerDeps, type LayerSwitch, notUnderstood } from './layer.ts'

const emptyPolicy = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: { name: 'layer-probe' },
  spec: { podSelector: {} },
}

/** A policy whose parameters are of a kind of ours refuses everything until the API server, once it is ready, knows the kind. */
async function restarted({ admin, apiServerWithout }: LayerDeps, without: readonly ApiServerLayer[]): Promise<void> {
  await apiServerWithout(without)
  await waitUntil(
    'the API server to know the kinds that policies read',
    async () => {
      const probe = { group: '/apis/networking.k8s.io/v1', resource: 'networkpolicies', object: emptyPolicy }
      const answer = await dryRun(admin, probe)
      return answer?.message.includes('failed to configure policy') !== true || undefined
    },
    { timeoutMilliseconds: limits.rollout },
  )
}

const nothing = async (): Promise<readonly []> => []

/** The API server asks its authorizers in their order, and says whether one of them denied. */
const review = {
  apiVersion: 'authorization.k8s.io/v1',
  kind: 'SubjectAccessReview',
  spec: {
    user: 'layer-probe',
    groups: ['system:authenticated'],
    resourceAttributes: { verb: 'get', resource: 'secrets', namespace: 'layer-probe', name: 'appsecret-layer-probe' },
  },
}

type Review = { readonly status?: { readonly denied?: boolean; readonly evaluationError?: string } }

export const authorizerLayer: LayerSwitch = {
  what: 'the API server does not ask the authorizer: RBAC alone decides about reads',
  alarm: 'the alert SekishoAuthorizerNotAsked after a quarter of an hour; WallsHold says nothing, because RBAC still refuses',
  keep: nothing,
  off: deps => restarted(deps, ['authorizer']),
  on: deps => restarted(deps, []),
  async standing({ admin }) {
    const { status } = (await admin.call('POST', '/apis/authorization.k8s.io/v1/subjectaccessreviews', review)) as Review
    if (status?.evaluationError !== undefined) throw new Error(`the authorizer does not answer: ${status.evaluationError}`)
    return status?.denied === true ? 'on' : 'off'
  },
}

const nodePod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'layer-probe' },
  spec: { hostPID: true, containers: [{ name: 'shell', image: 'registry.test/shell', securityContext: { privileged: true } }] },
}

export const podSecurityLayer: LayerSwitch = {
  what: 'the API server runs without its admission plugin PodSecurity; it is restarted',
  alarm: 'WallsHold: pod-security; the alert SekishoWallOff',
  keep: nothing,
  off: deps => restarted(deps, ['pod-security']),
  on: deps => restarted(deps, []),
  async standing({ admin }) {
    const answer = await dryRun(admin, { group: '/api/v1', resource: 'pods', object: nodePod })
    if (answer === undefined) return 'unknown'
    if (answer.message.includes('violates PodSecurity')) return 'on'
    if (answer.status < 500) return 'off'
    throw notUnderstood(answer)
  },
}
