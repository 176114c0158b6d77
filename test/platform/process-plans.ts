// Which processes the platform consists of in each form, and with what each is started on loopback: its program, its
// ServiceAccount, and the variables of its own level of trust alone, as in deploy/production and deploy/standalone. Soak runs
// and benches start them.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import type { KeyPairFiles } from '../../dev/cluster/pki/openssl.ts'
import type { RunningEmulator } from '../../dev/github/emulator.ts'
import { platformConfig } from '../../dev/images/recipes/platform.ts'
import type { TestPostgres } from '../../dev/postgres/start-postgres.ts'
import type { Mode as Form } from '../../src/api/names.ts'
import type { ServerStoreOptions } from '../../src/store/open-store.ts'
import type { Account } from '../fixtures/platform-rights.ts'
import { createProductionDatabase } from '../fixtures/production-database.ts'

export type Variables = Readonly<Record<string, string>>
type ProductionProcess = 'broker' | 'controllers' | 'admission' | 'data-services'
export type ProcessName = 'standalone' | ProductionProcess

export type ProcessPlan = {
  readonly name: ProcessName
  /** What follows `node` in its container's command: options, and its program below the repository. */
  readonly program: readonly string[]
  /** Its ServiceAccount in the platform's namespace. */
  readonly account: Account
  readonly variables: Variables
}

/** The listeners of one replica; a process opens its own. */
export type ListenPorts = {
  readonly broker: number
  readonly tokenDesk: number
  readonly gitProxy: number
  readonly admission: number
  readonly source: number
}

/** By these everybody reaches the platform. */
export const servicePorts: ListenPorts = {
  broker: 24_443,
  tokenDesk: 24_444,
  admission: 24_445,
  source: 24_446,
  gitProxy: 24_448,
}
export const appName = 'github'

export type PlanSources = {
  readonly github: RunningEmulator
  /** Serving certificates of the broker and of the webhook. */
  readonly leaf: KeyPairFiles
  readonly webhookLeaf: KeyPairFiles
}

/** What opens the stores of a form. */
export type Databases = { readonly [S in 'broker' | 'desk']: Variables }

/**
 * One database with a role for each schema, and a keyring for each process. `desk` opens the store of the controllers once
 * more.
 */
export async function productionDatabases(
  postgres: TestPostgres,
): Promise<{ readonly stores: Databases; readonly desk: ServerStoreOptions }> {
  const database = await createProductionDatabase(postgres)
  await database.migrate()
  await database.close()
  const store = (schema: 'broker' | 'desk'): Variables => {
    const { url, auditUrl, sealingKeys } = database.options(schema)
    return {
      SEKISHO_DATABASE_URL: url.reveal(),
      SEKISHO_AUDIT_DATABASE_URL: auditUrl.reveal(),
      SEKISHO_SEALING_KEYS: sealingKeys.map(key => key.reveal()).join(','),
    }
  }
  return { stores: { broker: store('broker'), desk: store('desk') }, desk: database.options('desk') }
}

/** `store` opens the database of the one process. */
export function standalonePlans(sources: PlanSources, store: Variables): readonly ProcessPlan[] {
  const variables = { ...brokerVariables(sources), ...controllersVariables, ...admissionVariables(sources), ...store }
  const [, ...program] = platformConfig().entrypoint ?? []
  return [{ name: 'standalone', program, account: 'sekisho', variables }]
}

export function productionPlans(sources: PlanSources, stores: Databases): readonly ProcessPlan[] {
  const plan = (name: ProductionProcess, variables: Variables): ProcessPlan => {
    return { name, program: programOf(name), account: accountOf('production', name), variables }
  }
  return [
    plan('broker', { ...brokerVariables(sources), ...stores.broker }),
    plan('controllers', { ...controllersVariables, ...stores.desk }),
    plan('admission', admissionVariables(sources)),
    plan('data-services', {}),
  ]
}

const production = join(import.meta.dirname, '..', '..', 'deploy', 'production')

/** As its Deployment in the production form starts the process. */
export function programOf(name: ProductionProcess): readonly string[] {
  const objects = parseAllDocuments(readFileSync(join(production, `${name}.yaml`), 'utf8')).map(document => document.toJS())
  const deployment = objects.find(({ kind }) => kind === 'Deployment')
  const [node, ...program] = deployment.spec.template.spec.containers[0].command as string[]
  if (node !== 'node') throw new Error(`the container of ${name} does not start node`)
  return program
}

export function accountOf(form: Form, name: ProcessName): Account {
  return form === 'standalone' || name === 'standalone' ? 'sekisho' : `sekisho-${name}`
}

/** Where a process listens, on loopback; variables of listeners that it does not have mean nothing to it. */
export function listenVariables({ broker, tokenDesk, gitProxy, admission, source }: ListenPorts, healthPort: number): Variables {
  return {
    SEKISHO_BROKER_ADDRESS: '127.0.0.1',
    SEKISHO_BROKER_PORT: String(broker),
    SEKISHO_TOKEN_DESK_PORT: String(tokenDesk),
    SEKISHO_GIT_PROXY_PORT: String(gitProxy),
    SEKISHO_ADMISSION_ADDRESS: '127.0.0.1',
    SEKISHO_ADMISSION_PORT: String(admission),
    SEKISHO_SOURCE_URL: `http://127.0.0.1:${source}`,
    SEKISHO_SOURCE_PORT: String(source),
    SEKISHO_HEALTH_ADDRESS: '127.0.0.1',
    SEKISHO_HEALTH_PORT: String(healthPort),
  }
}

const publicUrl = { SEKISHO_PUBLIC_URL: `https://127.0.0.1:${servicePorts.broker}` }

export function brokerVariables({ github, leaf }: Omit<PlanSources, 'webhookLeaf'>): Variables {
  return {
    ...publicUrl,
    SEKISHO_TLS_CERTIFICATE_PATH: leaf.certificate,
    SEKISHO_TLS_KEY_PATH: leaf.key,
    SEKISHO_GITHUB_APP: appName,
    SEKISHO_GITHUB_CLIENT_SECRET: github.app.clientSecret,
    SEKISHO_ACCOUNTS: 'any',
    SEKISHO_GITHUB_WEBHOOK_SECRET: github.app.webhookSecret,
  }
}

export const controllersVariables: Variables = {
  ...publicUrl,
  SEKISHO_REGISTRY: 'registry.example.com/apps',
  SEKISHO_REGISTRY_AUTHENTICATION: 'none',
  SEKISHO_INGRESS_FROM: 'traefik',
  SEKISHO_INGRESS_CLASS: 'traefik',
  SEKISHO_APPLICATION_URL: 'http://localhost:8080',
  SEKISHO_TOKEN_DESK_HOST: 'localhost',
}

function admissionVariables({ webhookLeaf }: PlanSources): Variables {
  return { SEKISHO_ADMISSION_CERTIFICATE_PATH: webhookLeaf.certificate, SEKISHO_ADMISSION_KEY_PATH: webhookLeaf.key }
}
