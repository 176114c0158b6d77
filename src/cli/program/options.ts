// The options that several commands have, each with the same words.
import { type Command, Option } from 'commander'
import { namespaceName } from '../argument-parsers.ts'

/** For commands that ask the platform. */
export function onPlatform(command: Command): Command {
  return command
    .option('--issuer <url>', 'the URL of the platform, such as https://sekisho.example.com (SEKISHO_ISSUER)')
    .option('--ca-file <file>', 'PEM file with the certificate authority of the platform (SEKISHO_CA_FILE)')
}

/** For commands that programs run without a login. */
export function asProgram(command: Command): Command {
  return onPlatform(command).option(
    '--token-file <file>',
    'instead of a login: a file with the token of a ServiceAccount for the audience sekisho-audit, read again as it rotates',
  )
}

/** For commands that ask the API server with the rights of the person. */
export function onCluster(command: Command): Command {
  return command
    .option('-n, --namespace <name>', 'the namespace; without it, the one of the context', namespaceName)
    .option('--context <name>', 'the context of the kubeconfig; without it, the current one')
    .option('--kubeconfig <file>', 'the kubeconfig (KUBECONFIG, ~/.kube/config)')
}

/** `-o` of commands whose results are tables. */
export function outputOption(...more: readonly ('wide' | 'yaml')[]): Option {
  return new Option('-o, --output <format>', 'the output format').choices(['table', ...more, 'json']).default('table')
}

/** For commands that write. */
export function dryRunOption(): Option {
  return new Option('--dry-run', 'let the API server judge the change, with all its rules, and store nothing')
}
