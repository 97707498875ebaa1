import ast,sys,collections
from pathlib import Path
root=Path(sys.argv[1])/'src'
mods={}
for p in (root/'gamekeeper').rglob('*.py'):
    n='.'.join(p.relative_to(root).with_suffix('').parts).removesuffix('.__init__'); mods[n]=p
def child(c,n):
    if not n.startswith(c+'.'): return None
    return n[len(c)+1:].split('.')[0]
def show(c):
    kids={child(c,n) for n in mods if child(c,n)}
    e=collections.defaultdict(lambda: collections.defaultdict(list))
    for n,p in mods.items():
        k=child(c,n)
        if not k: continue
        t=ast.parse(p.read_text()); skip=set()
        for x in ast.walk(t):
            if isinstance(x,ast.If) and getattr(x.test,'id','')=='TYPE_CHECKING':
                skip|={id(y) for y in ast.walk(x)}
        for x in ast.walk(t):
            if isinstance(x,ast.ImportFrom) and x.module and id(x) not in skip:
                for a in x.names:
                    f=f"{x.module}.{a.name}"
                    f=f if f in mods else x.module
                    k2=child(c,f)
                    if k2 and k2!=k: e[k][k2].append((n.split('.')[-1],f.split('.')[-1]))
    import networkx as nx
    g=nx.DiGraph(); g.add_nodes_from(kids); g.add_edges_from((a,b) for a in e for b in e[a])
    for s in nx.strongly_connected_components(g):
        if len(s)>1: print('  CYCLE',s,[(a,b,e[a][b][:2]) for a,b in nx.find_cycle(g.subgraph(s))])
    cond=nx.condensation(g); lev={}
    for x in reversed(list(nx.topological_sort(cond))):
        lev[x]=1+max([lev[y] for y in cond.successors(x)],default=-1)
    by=collections.defaultdict(list)
    for x,l in lev.items(): by[l]+=sorted(cond.nodes[x]['members'])
    print(c); 
    for l in sorted(by,reverse=True): print('   ',' | '.join(sorted(by[l])))
for c in sys.argv[2:]: show('gamekeeper'+('.'+c if c!='.' else ''))
