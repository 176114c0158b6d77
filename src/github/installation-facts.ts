// An installation and its account, as GitHub describes them. Numeric ids are identities; logins are for display only.
import { isJsonObject } from '../lib/json/json-value.ts'
import { integerAt, objectAt, optionalTextAt, recordOf, textAt } from './transport/answer.ts'

type AccountFacts = { readonly id: number; readonly login: string; readonly type: 'Organization' | 'User' }

/** Permission name to level, as GitHub reports it (`read`, `write`, `admin`). */
export type ReportedPermissions = Readonly<Record<string, string>>

/** An installation as GitHub reports it now. */
export type InstallationFacts = {
  readonly id: number
  readonly appId: number
  readonly account: AccountFacts
  /** Set while the installation is suspended: no token can be minted, and GitHub refuses existing ones. */
  readonly suspendedAt: Date | undefined
  readonly repositorySelection: 'all' | 'selected'
  readonly permissions: ReportedPermissions
}

/**
 * An installation on an organisation or a person; undefined for one on an enterprise, which has a slug in place of a login and
 * no repositories, and for one whose account is gone. Throws as `installationFacts` does.
 */
export function accountInstallation(value: unknown): InstallationFacts | undefined {
  const answer = recordOf(value, 'installation')
  const { account } = answer
  const isEnterprise = isJsonObject(account) && account['login'] === undefined && account['slug'] !== undefined
  return account === null || isEnterprise ? undefined : installationFacts(answer)
}

/**
 * Reads one installation of `GET /app/installations/{id}` or `GET /user/installations`; throws `upstream_failed` when a field
 * is missing.
 */
export function installationFacts(value: unknown): InstallationFacts {
  const answer = recordOf(value, 'installation')
  const suspendedAt = optionalTextAt(answer, 'suspended_at', 'installation')
  return {
    id: integerAt(answer, 'id', 'installation'),
    appId: integerAt(answer, 'app_id', 'installation'),
    account: accountFacts(objectAt(answer, 'account', 'installation')),
    suspendedAt: suspendedAt === undefined ? undefined : new Date(suspendedAt),
    repositorySelection: textAt(answer, 'repository_selection', 'installation') === 'all' ? 'all' : 'selected',
    permissions: reportedPermissions(objectAt(answer, 'permissions', 'installation')),
  }
}

function accountFacts(answer: Readonly<Record<string, unknown>>): AccountFacts {
  return {
    id: integerAt(answer, 'id', 'account'),
    login: textAt(answer, 'login', 'account'),
    type: textAt(answer, 'type', 'account') === 'Organization' ? 'Organization' : 'User',
  }
}

/** Levels are kept as GitHub writes them, also unknown ones. */
export function reportedPermissions(answer: Readonly<Record<string, unknown>>): ReportedPermissions {
  return Object.fromEntries(Object.entries(answer).map(([name, level]) => [name, String(level)]))
}
