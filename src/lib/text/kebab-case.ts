// The name of a kind as files and labels spell it.

/** `AppPipeline` → `app-pipeline`, `ClusterGitHubApp` → `cluster-github-app`. */
export function kebabCase(kind: string): string {
  return kind
    .replaceAll('GitHub', 'Github')
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '-')
    .toLowerCase()
}
