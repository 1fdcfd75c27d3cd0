"""Spanish, Portuguese, French and Italian words by concept; `*` ends a stem."""

from keel.rules.language.concepts import Concept

C = Concept

WORDS: dict[Concept, str] = {
    C.IGNORE: (
        "ignora ignore ignorez ignorar ignorad ignorer ignorare ignorate ignori ignorando olvida olvide olvidar"
        " desconsidere desconsiderar esqueça esqueca esquece oublie oubliez oublier dimentica dimenticare descarta"
        " descarte anula anule sáltate saltarte omite omita passe_outre faites_abstraction ne_tenez_pas_compte"
        " ne_tiens_pas_compte no_tengas_en_cuenta não_considere trascura trascurare"
    ),
    C.ORDERS: (
        "instrucciones instrucción instruções instrução instructions istruzioni istruzione directrices diretrizes"
        " directives consignes consigne direttive órdenes ordens ordres ordini indicaciones indicações"
        " restricciones restrições restrictions comandos mensaje_del_sistema"
    ),
    C.RULES: ("reglas regras règles regole normas normes norme políticas politiques politiche configuración ajustes"),
    C.PRIOR: (
        "anterior anteriores previas previos previa previo antérieures antérieurs précédentes précédents"
        " précédente précédent anteriormente precedenti precedente prévias prévios iniciales initiales iniziali"
        " arriba acima ci-dessus plus_haut sopra hasta_ahora até_agora"
    ),
    C.YOUR: ("tu tus te usted ustedes você vocês teu tua seus vous votre vos ton ta tes toi tuo tuoi tue voi"),
    C.SYSTEM: (
        "sistema système systeme operador opérateur operatore desarrollador desenvolvedor développeur sviluppatore"
    ),
    C.USER: (
        "usuario usuaria usuarios usuário usuária usuários utilizador utilizadores utilisateur utilisatrice"
        " utilisateurs utente utenti persona cliente humano humain umano l'utilisateur l'utente all'utente"
        " l'usager d'utilisateur dell'utente"
    ),
    C.OBEY: ("sigue siga sigas seguir obedece obedezca obedezcas suis suivez suivre obéis obéissez segui seguire"),
    C.VOID: (
        "obsoletas obsoleto obsoletos anuladas anulado suspendidas suspensas suspendues obsolètes annulées"
        " annullate obsolete ya_no_se_aplican ya_no_valen não_valem_mais ne_s'appliquent_plus non_valgono_più"
        " inválidas ne_s'applique_plus no_se_aplican não_se_aplicam"
    ),
    C.MODE: (
        "ahora_eres a_partir_de_ahora a_partir_de_agora agora_você_é dorénavant désormais tu_es_maintenant"
        " vous_êtes_maintenant d'ora_in_poi ora_sei nuevas_instrucciones novas_instruções nouvelles_instructions"
        " nuove_istruzioni modo_mantenimiento modo_de_manutenção mode_maintenance"
    ),
    C.WIN: (
        "reemplaza sustituye substitui remplace remplacent sostituisce prevalece prevalecen prévaut tiene_prioridad"
    ),
    C.NEG: ("no nunca sin jamás ni não sem nem ne n' pas jamais sans aucun non senza mai n'en n'est evita evite"),
    C.TELL: (
        "digas diga diga-lhe decir dile decirle decírselo menciones mencione mencionar informes informe informar"
        " reveles revele revelar avises avise avisar cuentes contar notifiques conte diz dites dis dire informez"
        " mentionnez mentionne mentionner révélez révèle parlez parle prévenez préviens prévenir dica dirlo"
        " menzionare menziona menzionarlo rivelare avvisare avvisi informi sepa saiba sache savoir enterarse"
        " perceba dito mencioná-lo informer avertir avertissez signaler signale comunicare comunichi dígaselo"
        " digas_al comente comentar saber sapere connaître"
    ),
    C.HIDE: (
        "silenciosamente secretamente ocultar oculta oculte oculto escondidas esconda escondido silencieusement"
        " secrètement discrètement cacher cachez cache caché segretamente nascondi nascondere di_nascosto"
        " en_secreto em_segredo en_secret em_silêncio en_silencio à_l'insu a_espaldas"
    ),
    C.SEND: (
        "envía envia envíe envie enviar envías enviando manda mande mandar adjunta adjunte adjuntar incluye"
        " incluya incluir inclua inclui pasa pase pasar copia copie copiar pega pegue sube suba subir anexe anexa"
        " anexar coloca coloque ponga pon reenvía reenvie repasse transmite transmita envoie envoyez envoyer"
        " transmets transmettez transmettre joins joignez joindre inclus incluez inclure mets mettez mettre copiez"
        " copier collez coller place placez invia inviare inviate allega allegare includi includere inserisci"
        " trasmetti trasmettere copiare incolla carica passa metti envíalo envíelo envie-o passe-o adjúntalo añade"
        " agrega adicione fournis fournissez ajoute ajoutez aggiungi inoltra encaminhe escreva escribe écris"
        " écrivez"
    ),
    C.READ: (
        "lee lea leer leia ler lê lis lisez lire leggi leggere leggete abre abra abrir ouvre ouvrez apri obtén"
        " obtenga recoge recoja recolhe colete récupère récupérez raccogli recupera busca"
    ),
    C.CONTENT: ("contenido conteúdo contenu contenuto valor_de valeur_de testo_di texto_de texte_de"),
    C.SECRET_FILE: "clave_ssh chave_ssh clé_ssh chiave_ssh",
    C.SECRET: (
        "contraseña contraseñas clave claves senha senhas mot_de_passe mots_de_passe password chiavi credenciales"
        " credenciais identifiants credenziali clave_privada chave_privada clé_privée chiave_privata secretos"
        " segredos secrets clés jeton jetons clé_api clave_api chave_api variables_de_entorno"
        " variáveis_de_ambiente variables_d'environnement variabili_d'ambiente"
    ),
    C.PERSONAL: ("tarjeta_de_crédito cartão_de_crédito carte_de_crédit carte_bancaire carta_di_credito cpf dni"),
    C.CONTEXT: (
        "conversación conversaciones conversa conversas conversation conversazione historial histórico historique"
        " cronologia prompt_del_sistema prompt_do_sistema prompt_système chat mensajes mensagens messages messaggi"
        " invite_système échanges l'historique discussion diálogo"
    ),
    C.KNOWN: ("que_conoces que_sabes que_você_conhece que_tienes que_vous_avez que_tu_as disponibles disponíveis"),
    C.EVERY: (
        "todo toda todos todas cualquier cualquiera qualquer cada completo completa completos completas entero"
        " tout toute tous toutes chaque n'importe_quel complet complète intégral intégralité ogni tutti tutte"
        " tutto tutta qualsiasi inteiro inteira entier entière íntegro íntegra"
    ),
    C.OTHER: ("otra otro otras otros outra outro outras outros autre autres altro altra altri altre demás"),
    C.TOOL: (
        "herramienta herramientas ferramenta ferramentas outil outils strumento strumenti función funciones"
        " função fonction fonctions funzione funzioni l'outil d'outil"
    ),
    C.THIS: "esta este esto ésta aquesta essa esse cet cette ce celui-ci questo questa",
    C.CALL: (
        "llama llame llamar llamarse usa use usar utiliza utilice utilizar ejecuta ejecute ejecutar invoca chame"
        " chamar utilize execute executar appelle appelez appeler utilise utilisez utiliser exécute exécutez"
        " exécuter chiama chiamare chiamate usare utilizza utilizzare esegui eseguire llamada chamada appelé"
        " utilisé usada lance lancez"
    ),
    C.FIRST: (
        "antes primero antes_de avant d'abord primeiro prima innanzitutto en_primer_lugar em_primeiro_lugar"
        " en_premier al_inicio no_início au_début all'inizio"
    ),
    C.INSTEAD: ("en_lugar_de en_vez_de em_vez_de em_lugar_de au_lieu_de à_la_place_de invece_di al_posto_di"),
    C.MUST: (
        "debe debes deben debe_ser obligatorio obligatoria obligatoriamente siempre deve devem obrigatório"
        " obrigatória sempre doit devez dois obligatoire toujours obbligatorio devi tienes_que tem_que il_faut"
        " importante"
    ),
    C.APPROVE: (
        "confirmación confirmar confirme confirmação aprobación aprovação permiso permisos permissão"
        " consentimiento consentimento autorización autorização confirmation approbation permission autorisation"
        " conferma conferme approvazione permesso consenso autorizzazione confirmer autoriser validation"
    ),
    C.ASK: (
        "pidas pida pedir pide preguntes pregunte preguntar solicita solicite solicitar esperes espere esperar"
        " peça pergunte perguntar aguarde demande demandez demander attendre attendez attends chiedi chiedere"
        " chiedete aspettare"
    ),
    C.AUTO: (
        "aprobado_automáticamente ya_aprobado ya_confirmado já_aprovado já_confirmado déjà_approuvé già_approvato"
    ),
    C.OFF: ("sin sem sans senza desactiva desative désactive désactivez disattiva omitir omite saltar pular sauter"),
    C.AUTHORITY: ("administrador administrateur amministratore équipe_de_sécurité equipo_de_seguridad"),
    C.RESULT: (
        "resultado resultados résultat résultats risultato risultati respuesta resposta réponse risposta salida"
    ),
    C.EXECUTE: ("ejecuta ejecutar execute executar exécute exécuter exécutez esegui eseguire sigue siga suivez segui"),
    C.MEMORY: "memoria memória mémoire memoria_a_largo_plazo",
    C.STORE: ("guarda guarde guardar salve salvar enregistre enregistrez enregistrer salva salvare memoriza recuerda"),
    C.FOREVER: "para_siempre para_sempre pour_toujours per_sempre permanentemente",
    C.MODEL: ("asistente assistente assistant agente modelo modèle modello l'assistant l'agente l'ia"),
    C.TURN: (
        "turno turnos conversación conversa conversation sesión sessão session mensaje mensagem message respuesta"
        " resposta réponse risposta solicitud pedido requête richiesta"
    ),
    C.DEPRECATED: ("obsoleta obsoleto dépréciée déprécié insegura peligrosa dangereux deprecata deprecato"),
    C.PRINT: (
        "muestra muestre imprime imprima revela revele repite repita mostre exiba affiche affichez révèle révélez"
        " répète répétez mostra stampa rivela ripeti"
    ),
    C.DETECT: ("detecta detectar détecte détecter rileva ataque ataques attaque attaques attacco inyección injeção"),
    C.VERBATIM: "textualmente literalmente mot_pour_mot íntegramente integralmente",
    C.TALK: "responder responda responde répondre répondez réponds rispondere rispondi",
    C.SOFAR: "hasta_ahora até_agora jusqu'ici jusqu'à_présent finora",
    C.STEP: ("envío envio envoi transferencia transfert copia copie paso étape passo trasferimento"),
}
