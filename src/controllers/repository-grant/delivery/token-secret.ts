// The Secret with the token of one subject of a grant with the delivery `Secret`: what it looks like, what the platform wrote
// into it, and what is to be done about it. Pure. What was written stands in an annotation that nobody else can set, without
// the token: by it an edit is found, and the token in the registry.
import { createHash } from 'node:crypto'
import { type Secret, secrets } from '../../../api/builtin/index.ts'
import type { TokenSecretFormat } from '../../../api/github/repository-grant/delivery.ts'
import { type RepositoryGrant, repositoryGrant } from '../../../api/github/repository-grant.ts'
import { domain } from '../../../api/kind.ts'
import { labels, ownerLabel } from '../../../api/names.ts'
import { tokenUser } from '../../../github/index.ts'
import type { Applied } from '../../../kube/client/client.ts'
import { controllerOf, ownerReference } from '../../../kube/object/owner.ts'
import { canonicalJson } from '../../../lib/json/canonical-json.ts'
import { asObject, parseJson, textAt } from '../../../lib/json/json-value.ts'
import type { DeliveredToken } from '../../../services/token-desk/token-desk.ts'
import { hashedToken } from '../../../store/token-registry.ts'

/** On the Secret: whose it is, and what the platform wrote last. */
export const writtenAnnotation = `${domain}/token`

/** What was written, beside the token. */
export type Written = {
  /** As the audit log and the registry have the token. */
  readonly hashedToken: string
  readonly renewFrom: Date
}

const types: Readonly<Record<TokenSecretFormat, string>> = {
  BasicAuth: 'kubernetes.io/basic-auth',
  DockerConfig: 'kubernetes.io/dockerconfigjson',
  ArgoCDRepository: 'Opaque',
}

const argoLabels = { 'argocd.argoproj.io/secret-type': 'repository' }

export function formatOf({ spec }: RepositoryGrant): TokenSecretFormat {
  return spec.secret?.format ?? 'BasicAuth'
}

/**
 * The container registry of a GitHub host.
 * Source: https://docs.github.com/en/packages/working-with-a-github-packages-registry/working-with-the-container-registry and
 * the same page of GitHub Enterprise Server, with subdomain isolation.
 */
export function containerRegistryOf(host: string): string {
  return host === 'github.com' ? 'ghcr.io' : `containers.${host}`
}

/** Without a token what the type of the Secret demands, so that no pod takes it for a credential. */
function valuesOf(format: TokenSecretFormat, token: DeliveredToken | undefined): Readonly<Record<string, string>> {
  const password = token?.token.reveal()
  switch (format) {
    case 'BasicAuth':
      return password === undefined ? { username: tokenUser } : { username: tokenUser, password, token: password }
    case 'DockerConfig': {
      const auth = Buffer.from(`${tokenUser}:${password}`, 'utf8').toString('base64')
      const auths =
        token === undefined ? {} : { [containerRegistryOf(token.endpoints.host)]: { username: tokenUser, password, auth } }
      return { '.dockerconfigjson': JSON.stringify({ auths }) }
    }
    case 'ArgoCDRepository': {
      if (token === undefined || password === undefined) return { type: 'git' }
      const url = `${token.endpoints.web}/${token.repositories[0]?.fullName ?? ''}.git`
      return { type: 'git', url, username: tokenUser, password }
    }
  }
}

function digestOf(data: Readonly<Record<string, string>>): string {
  return createHash('sha256')
    .update(canonicalJson({ ...data }))
    .digest('base64')
}

type TokenSecret = Applied & Pick<Secret, 'data'>

/**
 * To apply; undefined `token`: a Secret that waits for one. Its values are plain base64: pass it to the client and to nothing
 * else.
 */
export function desiredTokenSecret(grant: RepositoryGrant, name: string, token?: DeliveredToken): TokenSecret {
  const { apiVersion, kind } = secrets
  const { namespace = '', uid = '' } = grant.metadata
  const format = formatOf(grant)
  const values = valuesOf(format, token)
  const data = Object.fromEntries(
    Object.entries(values).map(([key, value]) => [key, Buffer.from(value, 'utf8').toString('base64')]),
  )
  const written = token && {
    hashedToken: hashedToken(token.token),
    digest: digestOf(data),
    renewFrom: token.renewFrom.toISOString(),
    expiresAt: token.expiresAt.toISOString(),
  }
  return {
    apiVersion,
    kind,
    metadata: {
      namespace,
      name,
      labels: {
        [labels.managedBy]: 'sekisho',
        [ownerLabel(repositoryGrant.kind)]: grant.metadata.name,
        ...(format === 'ArgoCDRepository' && token ? argoLabels : {}),
      },
      annotations: { [writtenAnnotation]: JSON.stringify({ grant: uid, ...written }) },
      ownerReferences: [ownerReference(grant, { controller: true })],
    },
    type: types[format],
    data,
  }
}

/** An orphaning deletion takes the owner from a Secret; the annotation stays, which only the platform can set. */
export function isOfGrant(secret: Secret, { metadata: { uid } }: RepositoryGrant): boolean {
  const owner = controllerOf(secret)
  if (owner !== undefined) return owner.uid === uid
  return uid !== undefined && textAt(annotationOf(secret), 'grant') === uid
}

function annotationOf({ metadata }: Secret) {
  return asObject(parseJson(metadata.annotations?.[writtenAnnotation] ?? ''))
}

/** Undefined when it has no token, or not what the platform wrote. */
export function writtenIn(secret: Secret, grant: RepositoryGrant): Written | undefined {
  const written = annotationOf(secret)
  const [hashed, digest] = [textAt(written, 'hashedToken'), textAt(written, 'digest')]
  const renewFrom = new Date(textAt(written, 'renewFrom') ?? '')
  if (hashed === undefined || Number.isNaN(renewFrom.getTime()) || controllerOf(secret) === undefined) return undefined
  const { metadata, type, data = {} } = secret
  const wanted = formatOf(grant) === 'ArgoCDRepository' ? argoLabels : {}
  const isLabelled = Object.entries(wanted).every(([key, value]) => metadata.labels?.[key] === value)
  if (digestOf(data) !== digest || type !== types[formatOf(grant)] || !isLabelled) return undefined
  return { hashedToken: hashed, renewFrom }
}

/** What is known about one Secret. */
export type SecretFacts = {
  readonly grant: RepositoryGrant
  readonly secret: Secret | undefined
  /** Whether the registry has the token that was written, and it was not revoked. */
  readonly isLive: boolean
  readonly now: Date
}

/**
 * `create`: there is none. `replace`: its token is none that the platform wrote, or was revoked. `renew`: its token ends soon.
 * `foreign`: somebody else made it.
 */
export type SecretStep = 'foreign' | 'create' | 'fill' | 'replace' | 'renew' | 'keep'

export function stepOf({ grant, secret, isLive, now }: SecretFacts): SecretStep {
  if (secret === undefined) return 'create'
  if (!isOfGrant(secret, grant)) return 'foreign'
  if (textAt(annotationOf(secret), 'hashedToken') === undefined) return 'fill'
  const written = writtenIn(secret, grant)
  if (written === undefined || !isLive) return 'replace'
  return written.renewFrom <= now ? 'renew' : 'keep'
}
