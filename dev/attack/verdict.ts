// The verdict on one attempt: stopped, and by whom; succeeded; or unclear. An attempt counts as stopped only when its answer
// shows who stopped it; whatever is not understood is unclear, and both what succeeded and what is unclear fail the run.

export const layers = {
  authentication: 'The API server, a page or an API of the platform demands authentication (401, or the sign-in page).',
  RBAC: 'The API server refuses the verb or the identity (403 “cannot …”, or an escalation that it prevents).',
  authorizer: 'The authorizer denies a read before RBAC is asked (403 with its guide in the message).',
  admission: 'A policy, a webhook or an admission plugin refuses the object, by its name.',
  schema: 'The API server refuses the object as invalid for its kind (422 or 400).',
  quota: 'A ResourceQuota refuses the object.',
  'Pod Security': 'The Pod Security standard of the namespace refuses the pod.',
  network: 'No connection is made from a pod, while the target listens and the same pod reaches what it may reach.',
  registry: 'The registry, or its token server, refuses (401, 403, or a token without that access).',
  broker: 'The platform’s pages and APIs refuse (400, 403, 404, 405, 409, 413, 415, 422 or 429 with an error of theirs).',
  'token desk':
    'The token desk does not issue a token, or the git proxy passes nothing on (400, 401, 403, 404 or 429 with an error of its own).',
  controller: 'A controller refuses in the conditions of the object, and creates nothing for it.',
  'data service':
    'The server of a service refuses, or data services end the credential: what others have there is as it was, and they go on.',
  kubelet: 'The node’s kubelet demands authentication or refuses (401, 403), or does not start a container.',
  bound: 'A documented bound held while more requests were sent than it allows.',
  absent: 'What the attempt looks for is not there: every place was read, and the count of places is in the evidence.',
} as const

export type Layer = keyof typeof layers

export type Verdict = (
  | { readonly outcome: 'stopped'; readonly by: Layer }
  | { readonly outcome: 'succeeded' }
  | { readonly outcome: 'unclear' }
) & {
  readonly evidence: string
  /** What was measured, in lines, shown whatever the outcome. */
  readonly measured?: readonly string[]
}

const maxEvidence = 260

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim().slice(0, maxEvidence)
}

export function stopped(by: Layer, evidence: string): Verdict {
  return { outcome: 'stopped', by, evidence: oneLine(evidence) }
}

export function succeeded(evidence: string): Verdict {
  return { outcome: 'succeeded', evidence: oneLine(evidence) }
}

export function unclear(evidence: string): Verdict {
  return { outcome: 'unclear', evidence: oneLine(evidence) }
}
