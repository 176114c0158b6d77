// Decides which part of the audit log somebody may read, by RBAC alone (ADR 0083). Who may list `auditentries.sekisho.dev` in
// the cluster reads everything; who may in the namespace of a tenant reads what belongs to this tenant. A ServiceAccount of a
// tenant never reads beyond its namespace, whatever was bound to it: everybody who starts pods there can use it.

import { auditReading } from '../../api/audit/audit-access.ts'
import { type Namespace, namespaces } from '../../api/builtin/index.ts'
import { labels } from '../../api/names.ts'
import type { Tenant } from '../../api/tenancy/tenant.ts'
import type { ReviewedAccount } from '../../identity/service-account-token.ts'
import type { Cache } from '../../kube/cache/object-cache.ts'
import type { KubeClient } from '../../kube/client/client.ts'
import { isKubeError } from '../../kube/client/errors.ts'
import type { Clock } from '../../lib/clock.ts'
import { AppError } from '../../lib/errors.ts'
import type { AccessReviews } from '../people/access-reviews.ts'
import { heldTenants, type Identity } from '../people/tenant-access.ts'

/** A namespace may have belonged to another tenant before: entries older than its present tenant are left out. */
export type AuditScope = { readonly namespace?: string; readonly since?: Date }

export type AuditReader = Identity | ReviewedAccount

export type AuditReaders = {
  /** Whether they read the whole log. Rejects with `unavailable` when the API server does not answer. */
  readonly ofAll: (reader: AuditReader) => Promise<boolean>
  /**
   * What they read of the log, or of one namespace of it. Rejects with `not_found` for whoever reads nothing there, with
   * `invalid_request` for one who has to name a namespace, and with `unavailable` when the API server does not answer.
   */
  readonly scope: (reader: AuditReader, namespace: string | undefined) => Promise<AuditScope>
}

export type AuditReadersDeps = {
  readonly reviews: AccessReviews
  readonly kube: Pick<KubeClient, 'get'>
  readonly tenants: Pick<Cache<Tenant>, 'list'>
  readonly clock: Clock
}

/** Whoever has roles in more tenants than this has to name the namespace: each is a question to the API server. */
const maxAsked = 20

/** The same for a log that exists and one that does not. */
export function noAuditLog(): AppError {
  return new AppError('not_found', 'there is no audit log that you may read')
}

/** By the answers of RBAC. */
export function createAuditReaders({ reviews, kube, tenants, clock }: AuditReadersDeps): AuditReaders {
  const mayReadAll = async (reader: AuditReader): Promise<boolean> =>
    !(isAccount(reader) && (await isOfTenant(kube, reader))) && (await reviews.allows(reader, auditReading))

  const readable = async (reader: AuditReader, asked: readonly string[]): Promise<readonly string[]> => {
    const answers = await Promise.all(asked.map(namespace => reviews.allows(reader, { ...auditReading, namespace })))
    return asked.filter((_, index) => answers[index])
  }

  return {
    ofAll: mayReadAll,
    async scope(reader, namespace) {
      if (await mayReadAll(reader)) return namespace === undefined ? {} : { namespace }
      const all = tenants.list()
      const asked = askedNamespaces(reader, namespace, all)
      if (asked.length > maxAsked)
        throw new AppError('invalid_request', 'namespace must be given: you have roles in many tenants')
      const [found, ...others] = await readable(reader, asked)
      if (found === undefined) throw noAuditLog()
      if (others.length > 0) throw new AppError('invalid_request', `namespace must be one of ${[found, ...others].join(', ')}`)
      return { namespace: found, since: beginningOf(found, all) ?? clock.now() }
    },
  }
}

function isAccount(reader: AuditReader): reader is ReviewedAccount {
  return 'username' in reader
}

/** By the label of its namespace, which only the platform sets. Rejects with `unavailable` without an answer, or a namespace. */
async function isOfTenant(kube: Pick<KubeClient, 'get'>, { namespace }: ReviewedAccount): Promise<boolean> {
  try {
    const found = await kube.get<Namespace>(namespaces, { name: namespace })
    if (found !== undefined) return found.metadata.labels?.[labels.tenant] !== undefined
  } catch (cause) {
    if (!isKubeError(cause)) throw cause
    throw new AppError('unavailable', 'the API server does not answer: try again', { cause })
  }
  throw new AppError('unavailable', 'the namespace of the ServiceAccount is not there: try again')
}

/**
 * The namespaces about which RBAC is asked: the one that is named, or those in which the reader may have a role. Roles decide
 * nothing here; a role that was bound by hand counts where its namespace is named. Only namespaces of tenants have a log of
 * their own, and for a ServiceAccount only its own. Pure.
 */
export function askedNamespaces(
  reader: AuditReader,
  namespace: string | undefined,
  tenants: readonly Tenant[],
): readonly string[] {
  const mine = isAccount(reader) ? tenants.filter(({ spec }) => spec.namespace === reader.namespace) : tenants
  const held = isAccount(reader) ? mine : heldTenants(reader, tenants).map(({ tenant }) => tenant)
  const possible = namespace === undefined ? held : mine.filter(({ spec }) => spec.namespace === namespace)
  return [...new Set(possible.map(({ spec }) => spec.namespace))].sort()
}

/** Since when the namespace belongs to its present tenant: to the youngest, where several name it and none has it. Pure. */
export function beginningOf(namespace: string, tenants: readonly Tenant[]): Date | undefined {
  const named = tenants.filter(({ spec }) => spec.namespace === namespace)
  const owners = named.filter(({ status }) => status?.namespace === namespace)
  const made = (owners.length > 0 ? owners : named).map(({ metadata }) => metadata.creationTimestamp)
  const [youngest] = made.toSorted().reverse()
  return made.includes(undefined) || youngest === undefined ? undefined : new Date(youngest)
}
