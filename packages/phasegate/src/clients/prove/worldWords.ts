/** A world of its own for one trial: the same paths as outside, with other things at some of them. */
export interface World {
  /** Where the project is, and what is there instead. */
  readonly project: { readonly path: string; readonly copy: string };
  /** Where the home is, and what is there instead. */
  readonly home: { readonly path: string; readonly copy: string };
  /** The folder of all state, and what is there instead: hook programs, and no run. */
  readonly state: { readonly path: string; readonly copy: string };
  /** Places below what is hidden that programs need: the client, Node, Phasegate. */
  readonly shown: readonly string[];
}

/**
 * Words for bubblewrap. What a client is proven with is what it uses: the same files at the same paths, and the same
 * port, as the network is another one. Nothing that happens inside reaches the user's runs, files or processes, and all
 * of it ends with the world. It is no wall against the client, which is the user's own program.
 */
export function worldWords({ project, home, state, shown }: World): readonly string[] {
  return [
    ...['--unshare-user', '--unshare-pid', '--unshare-net', '--unshare-ipc', '--unshare-uts'],
    ...['--die-with-parent', '--new-session'],
    ...['--ro-bind', '/', '/'],
    ...['--dev', '/dev', '--proc', '/proc'],
    ...['--tmpfs', '/run', '--perms', '1777', '--tmpfs', '/tmp', '--perms', '1777', '--tmpfs', '/var/tmp'],
    ...['--bind', home.copy, home.path],
    ...shown.flatMap((place) => ['--ro-bind', place, place]),
    ...['--bind', state.copy, state.path],
    ...['--bind', project.copy, project.path],
    ...['--chdir', project.path],
  ];
}

/** The places of the given ones that the world would hide. */
export function hiddenPlaces(places: readonly string[], home: string): readonly string[] {
  const hidden = ['/run', '/tmp', '/var/tmp', home];
  const found = places.filter((place) =>
    hidden.some((root) => place === root || place.startsWith(`${root}/`)),
  );
  return [...new Set(found)].filter((place) => place !== home && !hidden.includes(place)).sort();
}
