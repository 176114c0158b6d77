// docs/reference/environment.md: every environment variable, from the tables by which the processes read them.
import { admissionSettings } from '../../../src/admission/config.ts'
import { authorizerSettings } from '../../../src/authorizer/config.ts'
import { brokerSettings } from '../../../src/broker/config.ts'
import { cliVariables } from '../../../src/cli/config.ts'
import { controllersSettings } from '../../../src/controllers/config.ts'
import type { Setting } from '../../../src/lib/config.ts'
import { processSettings } from '../../../src/process/config.ts'
import { retentionSettings } from '../../../src/retention/config.ts'
import { sourceStoreSettings } from '../../../src/services/builds/source-store/config.ts'
import { ownerSettings } from '../../../src/store/access/owner.ts'
import { storeSettings } from '../../../src/store/config.ts'
import { givenClusterSettings } from '../../up/given-cluster/settings.ts'
import { code, page, table } from '../markdown.ts'

type Settings = Readonly<Record<string, Setting<unknown>>>

const groups: readonly { readonly heading: string; readonly settings: Settings }[] = [
  { heading: 'Every process', settings: processSettings },
  { heading: 'Database', settings: storeSettings },
  { heading: 'Broker', settings: brokerSettings },
  { heading: 'Controllers', settings: controllersSettings },
  { heading: 'Admission', settings: admissionSettings },
  { heading: 'Authorizer', settings: authorizerSettings },
  { heading: 'Source store', settings: sourceStoreSettings },
]

/** Read by the program of the database’s owner and by no process. */
const ownerGroup = { heading: 'Owner of the database', settings: ownerSettings }

/** Read by the program that cuts the audit log and by no process. */
const retentionGroup = { heading: 'Program that cuts the audit log', settings: retentionSettings }

/** Read by `make up` on a cluster of the user's. */
const upGroup = { heading: '`make up` on your own cluster', settings: givenClusterSettings }

/** Read by the Kubernetes client of every process; `src/kube/kubeconfig`. */
const kubernetesVariables = {
  KUBECONFIG: 'The kubeconfig with which the process reaches the API server, outside of a cluster.',
  KUBERNETES_SERVICE_HOST: 'The address of the API server. Kubernetes sets it in every pod.',
  KUBERNETES_SERVICE_PORT: 'The port of the API server. Kubernetes sets it in every pod.',
}

/** Set by the chart `web`; `src/services/charts/web.ts`. */
const applicationVariables = {
  PORT: 'The port on which the process must listen: `port` of the process in `spec.processes`.',
  SEKISHO_COMMIT: 'The commit from which the image was built: `spec.commit`.',
}

function allowedValues({ kind, choices = [], minimum, maximum }: Setting<unknown>): string {
  switch (kind) {
    case 'choice':
      return choices.map(code).join(', ')
    case 'integer':
      return `whole number, ${minimum}–${maximum}`
    case 'url':
      return 'URL'
    case 'list':
      return 'list, separated by commas'
    case 'text':
      return 'text'
    default: {
      const never: never = kind
      return never
    }
  }
}

function settingRow(setting: Setting<unknown>): readonly string[] {
  const { name, description, optional, secret } = setting
  const isRequired = setting.default === undefined && optional !== true
  const text = `${description.replace(/^./, first => first.toUpperCase())}.`
  return [
    code(name),
    secret === true ? `${text} Secret: use \`${name}_FILE\`.` : text,
    allowedValues(setting),
    isRequired ? 'yes' : '',
    setting.default === undefined || setting.default === '' ? '' : code(setting.default),
  ]
}

const columns = ['Variable', 'Description', 'Value', 'Required', 'Default']

function variables(texts: Readonly<Record<string, string>>): string {
  return table(
    ['Variable', 'Description'],
    Object.entries(texts).map(([name, text]) => [code(name), text]),
  )
}

/** Every variable on the page. */
export const documentedVariables: ReadonlySet<string> = new Set([
  ...[...groups, ownerGroup, retentionGroup, upGroup].flatMap(({ settings }) => Object.values(settings).map(({ name }) => name)),
  ...[kubernetesVariables, applicationVariables, cliVariables].flatMap(texts => Object.keys(texts)),
])

/** The `SEKISHO_*` variables in a text that are not on the page. `<NAME>_FILE` belongs to `<NAME>`. */
export function undocumentedVariables(text: string): readonly string[] {
  const found = new Set((text.match(/\bSEKISHO_[A-Z0-9_]*[A-Z0-9]\b/g) ?? []).map(name => name.replace(/_FILE$/, '')))
  return [...found].filter(name => !documentedVariables.has(name) && !documentedVariables.has(`${name}_FILE`))
}

/** The page as Markdown. */
export function environmentPage(): string {
  return page({
    title: 'Environment variables',
    subject: 'This page lists the environment variables that the processes and the command line of Sekisho read.',
    source: 'the tables by which they are read (`src/*/config.ts`)',
    sections: [
      'A process reads the variables of the sections that concern it: the broker those of “Every process”, “Database” and “Broker”, the controllers those of “Controllers” instead, admission those of “Every process” and “Admission”, and the standalone process all of these. The authorizer reads those of “Every process” and “Authorizer”. It names every missing and every wrong variable at once and does not start. An empty variable counts as not set.',
      'Instead of each variable `<NAME>` of these sections, `<NAME>_FILE` may name a file that holds the value. Use it for secrets.',
      ...groups.flatMap(({ heading, settings }) => [`## ${heading}`, table(columns, Object.values(settings).map(settingRow))]),
      `## ${ownerGroup.heading}`,
      '`node src/store/migrate-main.ts` reads these variables. It applies the migrations and gives the roles of the processes their rights; `--dry-run` says what it would do.',
      table(columns, Object.values(ownerGroup.settings).map(settingRow)),
      `## ${retentionGroup.heading}`,
      '`node src/retention/main.ts` reads these variables: [audit.md](../guide/audit.md#retention).',
      table(columns, Object.values(retentionGroup.settings).map(settingRow)),
      `## ${upGroup.heading}`,
      'With `KUBECONFIG`, `make up` reads these variables. None is required by itself: it names what it needs and cannot find, together with what the cluster lacks (docs/guide/install.md).',
      table(columns, Object.values(upGroup.settings).map(settingRow)),
      '## Connection to Kubernetes',
      variables(kubernetesVariables),
      '## Command line',
      'The command `sekisho` reads these variables. All are optional.',
      variables(cliVariables),
      '## Processes of Applications',
      'The chart `web` sets these variables in the pods of an Application.',
      variables(applicationVariables),
    ],
  })
}
