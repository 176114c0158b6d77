// An installation token from its intent to what GitHub answered, as values and as columns of `desk.tokens`. The seal of a token
// is bound to its row. Pure: it neither reads nor writes.
import { AppError } from '../../lib/errors.ts'
import type { JsonValue } from '../../lib/json/canonical-json.ts'
import { defined } from '../../lib/json/defined.ts'
import type { SecretString } from '../../lib/secret-string.ts'
import type { Prisma, TokenRow } from '../generated/client.ts'
import type { Sealer } from '../seal.ts'
import { hashedToken } from './hashed-token.ts'

/** Kind of the subject of what the platform uses itself: the sweep leaves such a token alone while its request is in progress. */
export const platformSubjectKind = 'Controller'

/** What identifies an installation: its number is unique per host and App only. */
export type InstallationIdentity = { readonly host: string; readonly appId: number; readonly installationId: number }

/** The workload that gets the token. */
export type TokenSubject = { readonly kind: string; readonly namespace: string; readonly name: string; readonly uid: string }

/** GitHub App permissions and their levels, such as `contents: read`. */
export type TokenPermissions = { readonly [permission: string]: string }

/** What the audit log says of a token beside its columns, kept for the record of its end; never a secret. */
export type TokenFacts = { readonly [fact: string]: JsonValue }

/** What is about to be minted, for whom, under which grant. */
export type TokenIntent = {
  readonly cacheKey: string
  readonly installation: InstallationIdentity
  /** The base URL of the REST API that mints the token, where it is also revoked. */
  readonly api: string
  readonly grantUid: string
  readonly grantName: string
  readonly subject: TokenSubject
  readonly repositoryIds: readonly number[]
  readonly permissions: TokenPermissions
  /** None for a token that the platform uses itself. */
  readonly facts?: TokenFacts
}

/** What GitHub answered to the request for a token. */
export type MintedFacts = {
  readonly token: SecretString
  readonly expiresAt: Date
  readonly repositoryIds: readonly number[]
  readonly permissions: TokenPermissions
  /** When the platform revokes it, where that is before it expires. */
  readonly livesUntil?: Date
}

/** A token that GitHub still accepts as far as we know. */
export type LiveToken = TokenIntent & MintedFacts & { readonly id: string; readonly mintedAt: Date }

/** A token whose revocation may have begun. */
export type EndingToken = LiveToken & {
  /** How often GitHub was asked to revoke it and did not. */
  readonly attempts: number
  /** When it is tried again; undefined before the first attempt. */
  readonly retryAt: Date | undefined
  /** GitHub did not revoke it because the installation is suspended: it can be used for nothing meanwhile. */
  readonly suspended: boolean
  /** Why and since when it must end; undefined before its revocation began. */
  readonly ending: { readonly cause: string; readonly at: Date } | undefined
}

/** A token that expired before GitHub revoked it. */
export type ExpiredToken = TokenIntent & Pick<EndingToken, 'id' | 'ending'> & { readonly hashedToken: string | undefined }

/** An intent without an outcome: the process ended between the request to GitHub and the record of its answer. */
export type OrphanedIntent = TokenIntent & { readonly id: string; readonly intendedAt: Date }

/** All fields that are given must match. */
export type LiveTokenFilter = {
  readonly installation?: InstallationIdentity
  readonly grantUid?: string
  readonly repositoryId?: number
  readonly namespace?: string
  /** The registry's id of one token. */
  readonly id?: string
  /** SHA-256 in base64, as GitHub's audit log has it. Finds no token that was minted before the column was (0002_records). */
  readonly hashedToken?: string
  readonly grantName?: string
  readonly grantUids?: readonly string[]
  readonly host?: string
  /** Made by one of these installations, whichever App it is of, or under one of these grants; with `host`. */
  readonly byInstallations?: { readonly ids: readonly number[]; readonly grantUids: readonly string[] }
  /** Leaves out what the platform uses itself and revokes at once. */
  readonly delivered?: true
}

/** How the tokens ended whose revocation began with one reason. */
export type EndedTokens = { readonly revoked: number; readonly expired: number }

/** The columns of an intent that has no outcome yet. */
export function intentColumns(intent: TokenIntent) {
  return {
    cacheKey: intent.cacheKey,
    host: intent.installation.host,
    api: intent.api,
    appId: BigInt(intent.installation.appId),
    installationId: BigInt(intent.installation.installationId),
    namespace: intent.subject.namespace,
    grantUid: intent.grantUid,
    grantName: intent.grantName,
    subjectKind: intent.subject.kind,
    subjectName: intent.subject.name,
    subjectUid: intent.subject.uid,
    requestedIds: intent.repositoryIds.map(BigInt),
    requestedPermissions: intent.permissions,
    repositoryIds: [],
    permissions: {},
    facts: intent.facts ?? {},
  }
}

/** What GitHub answered, with the token sealed for the row `id`. */
export function mintedColumns(sealer: Sealer, id: string, minted: MintedFacts) {
  return {
    sealedToken: sealer.seal(minted.token, tokenSealContext(id)),
    hashedToken: hashedToken(minted.token),
    expiresAt: minted.expiresAt,
    livesUntil: minted.livesUntil ?? null,
    repositoryIds: minted.repositoryIds.map(BigInt),
    permissions: minted.permissions,
  }
}

/** The intent that a row began with. */
export function intentOf(row: TokenRow): TokenIntent {
  return {
    cacheKey: row.cacheKey,
    installation: { host: row.host, appId: Number(row.appId), installationId: Number(row.installationId) },
    api: row.api,
    grantUid: row.grantUid,
    grantName: row.grantName,
    subject: { kind: row.subjectKind, namespace: row.namespace, name: row.subjectName, uid: row.subjectUid },
    repositoryIds: row.requestedIds.map(Number),
    permissions: row.requestedPermissions as TokenPermissions,
    facts: row.facts as TokenFacts,
  }
}

/** The token of a row in state `minted` or `revoking`, opened. Throws `integrity_violation` for a row that holds no token. */
export function liveToken(sealer: Sealer, row: TokenRow): LiveToken {
  if (row.sealedToken === null || row.expiresAt === null || row.mintedAt === null)
    throw new AppError('integrity_violation', 'a minted token has no sealed value')
  return {
    ...intentOf(row),
    id: row.id,
    token: sealer.open(row.sealedToken, tokenSealContext(row.id)),
    expiresAt: row.expiresAt,
    ...defined({ livesUntil: row.livesUntil ?? undefined }),
    mintedAt: row.mintedAt,
    repositoryIds: row.repositoryIds.map(Number),
    permissions: row.permissions as TokenPermissions,
  }
}

/** As `liveToken`, with how far its revocation is. */
export function endingToken(sealer: Sealer, row: TokenRow): EndingToken {
  const { attempts, retryAt, suspended } = row
  return { ...liveToken(sealer, row), attempts, retryAt: retryAt ?? undefined, suspended, ending: endingOf(row) }
}

/** The token of a row that holds it no more. */
export function expiredToken(row: TokenRow): ExpiredToken {
  return { ...intentOf(row), id: row.id, ending: endingOf(row), hashedToken: row.hashedToken ?? undefined }
}

function endingOf({ endingAt, reason }: TokenRow): EndingToken['ending'] {
  return endingAt === null ? undefined : { cause: reason ?? '', at: endingAt }
}

/** The rows that pass every filter that is given. */
export function filterColumns(filter: LiveTokenFilter): Prisma.TokenRowWhereInput {
  const { installation, grantUids, repositoryId, byInstallations, delivered, ...equal } = filter
  return {
    ...(installation === undefined
      ? {}
      : {
          host: installation.host,
          appId: BigInt(installation.appId),
          installationId: BigInt(installation.installationId),
        }),
    ...defined(equal),
    ...(grantUids === undefined ? {} : { grantUid: { in: [...grantUids] } }),
    ...(byInstallations === undefined
      ? {}
      : {
          OR: [{ installationId: { in: byInstallations.ids.map(BigInt) } }, { grantUid: { in: [...byInstallations.grantUids] } }],
        }),
    ...(delivered === undefined ? {} : { subjectKind: { not: platformSubjectKind } }),
    ...(repositoryId === undefined ? {} : { repositoryIds: { has: BigInt(repositoryId) } }),
  }
}

/** What binds the seal of a token to its row. */
export function tokenSealContext(id: string): string {
  return `token:${id}`
}
