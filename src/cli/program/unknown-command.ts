// A command that does not exist: the one that was mistyped, or what other platforms call something that is named otherwise here.
import type { Command } from 'commander'
import { didYouMean } from '../kubernetes/similar-names.ts'

const shell = 'sekisho shell opens a shell in a pod of its own, and kubectl exec one in a pod that runs'
const databases = 'sekisho services create makes a database, and sekisho services attach gives it to an application'
const variables = 'sekisho env set changes variables, sekisho secrets set values that nobody may read'

/** The word of Heroku, Kubero, Coolify or kubectl, whole or before its colon → what does it here. */
const elsewhere: Readonly<Record<string, string>> = {
  access: 'teams on GitHub have roles: an owner gives them on the page Onboard an account',
  addons: databases,
  apply: 'kubectl apply -f writes manifests; sekisho create --repository OWNER/NAME makes those of an application',
  apps: 'sekisho status shows all applications',
  'apps:create': 'sekisho create --repository OWNER/NAME makes an application',
  'apps:destroy': 'kubectl delete application,remotesync NAME deletes an application',
  attach: shell,
  bash: shell,
  build: 'a push to GitHub builds; sekisho builds shows the builds, and sekisho builds retry builds again',
  certs: 'spec.tls of the Application (docs/guide/processes.md)',
  config: variables,
  console: shell,
  container: 'sekisho deploy NAME --image IMAGE runs an image that was built elsewhere',
  cron: 'spec.cron of the Application (docs/guide/processes.md)',
  delete: 'kubectl delete application,remotesync NAME deletes an application',
  describe: 'sekisho status NAME, sekisho why application/NAME',
  destroy: 'kubectl delete application,remotesync NAME deletes an application',
  domains: 'spec.domains of the Application (docs/guide/processes.md), and sekisho why domain/HOST',
  exec: shell,
  get: 'sekisho status shows applications, and kubectl get every kind',
  info: 'sekisho status NAME',
  maintenance: 'spec.suspend: true of the Application stops it for a while',
  pg: databases,
  'pg:credentials': 'sekisho services rotate NAME replaces the credentials of a database, and nobody sees them',
  pipelines: 'a merge runs what was reviewed in a preview: sekisho previews',
  'ps:exec': shell,
  'ps:restart': 'sekisho restart NAME',
  'ps:scale': 'sekisho scale NAME web=3',
  push: 'git push: the platform builds what is on GitHub',
  redis: 'Redis is not part of the platform: bring its URL with sekisho secrets set',
  reviewapps: 'sekisho previews',
  set: variables,
  ssh: shell,
  tail: 'sekisho logs -f NAME',
  unset: variables,
  up: 'git push: the platform builds what is on GitHub',
  volumes: 'spec.volumes of the Application (docs/guide/processes.md)',
}

/** The error about the word. Pure. */
export function unknownCommandText(word: string, commands: readonly string[]): string {
  const [before = ''] = word.split(':')
  const here = [word, before].find(one => Object.hasOwn(elsewhere, one))
  const unknown = `unknown command '${word.slice(0, 60)}'`
  if (here === undefined) return `${unknown}${didYouMean(word, commands) || '; sekisho --help lists the commands'}`
  return `${unknown}: ${elsewhere[here]}. docs/guide/coming-from.md has a table of what is called what`
}

/** Instead of commander's own guess, which knows the commands that exist only. */
export function explainUnknownCommands(program: Command): void {
  program.on('command:*', ([word = '']: readonly string[]) => {
    const names = program.commands.map(command => command.name())
    program.error(`error: ${unknownCommandText(word, names)}`, { code: 'commander.unknownCommand' })
  })
}
