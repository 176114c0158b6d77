// npm, which the image has: it reads lock files of all its versions (https://docs.npmjs.com/cli/v11/configuring-npm/package-lock-json).
import type { ManagerFacts, PackageManager } from './package-manager.ts'

export function npm({ lock, isWorkspace }: ManagerFacts): PackageManager {
  return {
    name: 'npm',
    tool: undefined,
    locked: lock !== undefined,
    isWorkspace,
    runsHooks: true,
    install: withDev => ['npm', lock === undefined ? 'install' : 'ci', withDev ? '--include=dev' : '--omit=dev'],
    run: script => ['npm', 'run', script],
    prune: { commands: [['npm', 'prune', '--omit=dev', '--ignore-scripts']] },
    environment: cache => ({
      npm_config_cache: cache,
      npm_config_audit: 'false',
      npm_config_fund: 'false',
      npm_config_update_notifier: 'false',
      npm_config_prefer_offline: 'true',
      npm_config_logs_max: '0',
    }),
  }
}
